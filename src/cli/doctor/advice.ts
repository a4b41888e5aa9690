// Notes from `switchboard doctor` about a server's configuration and tools.
import { chooseProvider } from '../../assistant/choose.ts';
import { settleAssistant } from '../../assistant/settings.ts';
import type { Child } from '../../child/child.ts';
import type { ChildConfig } from '../../config/config.ts';
import { DESCRIPTIONS_FILE } from '../../config/server/descriptions.ts';
import { hintsOf, isReadOnly } from '../../mcp/annotations.ts';
import { explainRefusedTools } from '../../mcp/clean-lists.ts';
import type { Tool } from '../../mcp/tools.ts';
import { modeOf } from '../../surface/modes/table.ts';
import { describeFailure } from '../terminal/failure.ts';

/** Descriptions that have no effect, and what the assistant uses. */
export function adviceOnConfig(config: ChildConfig): string[] {
  const { name, switchboardDescription, suiteDescription, notedDescription } = config;
  const isOverridden = switchboardDescription !== undefined && suiteDescription !== undefined;
  const overriding = switchboardDescription ?? suiteDescription;
  return [
    ...(isOverridden
      ? [
          `suites.${name}.description is not used, because the server's own file has a switchboardDescription.`,
        ]
      : []),
    ...(notedDescription !== undefined && overriding !== undefined
      ? [
          `its "switchboard" text in ${DESCRIPTIONS_FILE} is not used, because ${switchboardDescription === undefined ? `suites.${name}.description` : 'switchboardDescription'} takes precedence.`,
        ]
      : []),
    ...adviceOnAssistant(config),
  ];
}

/** Hosts don't see the tools that `doctor` counts, and the assistant needs a model. */
function adviceOnAssistant({ assistant }: ChildConfig): string[] {
  if (!assistant) return [];
  try {
    const { env } = process;
    const { provider, model } = chooseProvider({ settings: settleAssistant(assistant, env), env });
    const by = model === undefined ? provider : `${provider}, ${model}`;
    return [`hosts use it through an assistant (${by}).`];
  } catch (error) {
    return [describeFailure(error)].map(({ message, hint }) => `${message} ${hint ?? ''}`.trim());
  }
}

export function adviceOnTools(
  config: ChildConfig,
  usable: readonly Tool[],
  { refusedTools }: Pick<Child, 'refusedTools'>,
): string[] {
  const refusals = explainRefusedTools(refusedTools).map((sentence) => `${sentence}.`);
  return [...refusals, ...adviceOnReading(config, usable)];
}

/** A host that asks before writes has to ask for every call of a suite that does both. */
function adviceOnReading(config: ChildConfig, usable: readonly Tool[]): string[] {
  const { name, readOnlyTool, assistant } = config;
  const reading = usable.filter((tool) => isReadOnly(hintsOf(tool))).length;
  const isMixed = reading > 0 && reading < usable.length;
  if (!isMixed || readOnlyTool || !modeOf(config).usesSuite || assistant) return [];
  return [
    `${reading} of its ${usable.length} tools are read-only. Set suites.${name}.readOnlyTool to true to add a tool for them that hosts can run without asking.`,
  ];
}
