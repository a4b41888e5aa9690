// `switchboard doctor [child]`: starts each child, all at once, and says what works, what does not
// and why.
import { chooseProvider } from '../assistant/choose.ts';
import { settleAssistant } from '../assistant/settings.ts';
import { cleanText } from '../base/text.ts';
import { VERSION } from '../base/version.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import { DESCRIPTIONS_FILE } from '../config/descriptions.ts';
import { isExposed } from '../config/expose.ts';
import { adviceOnTools } from './advice.ts';
import { describeFailure, type Failure } from './failure.ts';
import { NO_SERVERS } from './no-servers.ts';
import { offServers, printOff } from './off.ts';
import { count, createOutput, formatMs, type Output } from './output.ts';
import { Progress } from './progress.ts';
import {
  type CommandOptions,
  chosenChildren,
  type Workplace,
  withSwitchboard,
} from './with-switchboard.ts';

interface Finding {
  readonly name: string;
  readonly origin: string;
  readonly ok: boolean;
  /** Milliseconds from the start to the end of the handshake, and of the list after it. */
  readonly startMs: number | undefined;
  readonly listMs: number | undefined;
  readonly server: string | undefined;
  readonly revision: string | undefined;
  readonly tools: number | undefined;
  readonly allowedTools: number | undefined;
  readonly advice: readonly string[];
  readonly error: Failure | undefined;
}

export async function doctor(
  childName: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const own = { ...options, assistants: false } as const;
  const { config, findings } = await withSwitchboard(own, async (workplace) => {
    using progress = new Progress();
    const children = chosenChildren(workplace.config, childName);
    const examined = children.map((child) =>
      progress.during(child.name, examine(child, workplace)),
    );
    return { config: workplace.config, findings: await Promise.all(examined) };
  });
  const { files, project, home, warnings } = config;
  const off = offServers(config, childName);
  output.json({
    version: VERSION,
    node: process.version,
    project,
    home,
    files,
    warnings,
    children: findings,
    off,
  });
  printSurroundings(config, output);
  for (const finding of findings) printFinding(finding, output);
  printOff(off, output);
  const failed = findings.filter(({ ok }) => !ok).length;
  output.line(
    findings.length + off.length === 0
      ? NO_SERVERS
      : `Servers that work: ${findings.length - failed} of ${findings.length}.`,
  );
  return failed > 0 ? 3 : 0;
}

async function examine(
  config: ChildConfig,
  { switchboard, cancellation }: Workplace,
): Promise<Finding> {
  const { name, origin, expose } = config;
  const about = { name, origin, advice: adviceOnConfig(config) };
  const begin = performance.now();
  try {
    const child = await switchboard.pool.use(name, cancellation);
    const startMs = Math.round(performance.now() - begin);
    const tools = await child.listTools({ cancellation });
    switchboard.pool.remember(config, tools);
    const { serverName, serverVersion, revision } = child.greeting;
    return {
      ...about,
      advice: [...about.advice, ...adviceOnTools(config, tools, child)],
      ok: true,
      startMs,
      listMs: Math.round(performance.now() - begin) - startMs,
      server: [serverName, serverVersion].filter(Boolean).join(' '),
      revision,
      tools: tools.length,
      allowedTools: tools.filter((tool) => isExposed(tool.name, expose)).length,
      error: undefined,
    };
  } catch (error) {
    return { ...about, ...NOTHING, ok: false, error: describeFailure(error) };
  }
}

const NOTHING = {
  startMs: undefined,
  listMs: undefined,
  server: undefined,
  revision: undefined,
  tools: undefined,
  allowedTools: undefined,
};

/** Descriptions that somebody wrote and nobody sees. */
function adviceOnConfig(config: ChildConfig): string[] {
  const { name, switchboardDescription, suiteDescription, notedDescription } = config;
  const isOverruled = switchboardDescription !== undefined && suiteDescription !== undefined;
  const stronger = switchboardDescription ?? suiteDescription;
  return [
    ...(isOverruled
      ? [
          `suites.${name}.description is not used, because the server's own file has a switchboardDescription.`,
        ]
      : []),
    ...(notedDescription !== undefined && stronger !== undefined
      ? [
          `its "switchboard" text in ${DESCRIPTIONS_FILE} is not used, because ${switchboardDescription === undefined ? `suites.${name}.description` : 'switchboardDescription'} takes precedence.`,
        ]
      : []),
    ...adviceOnAssistant(config),
  ];
}

/** Hosts do not see the tools that were counted, and what they see needs a model. */
function adviceOnAssistant({ assistant }: ChildConfig): string[] {
  if (!assistant) return [];
  try {
    const { env } = process;
    const { provider, model } = chooseProvider({ settings: settleAssistant(assistant, env), env });
    const by = model === undefined ? provider : `${provider}, ${model}`;
    return [`hosts speak to it through an assistant (${by}).`];
  } catch (error) {
    return [describeFailure(error)].map(({ message, hint }) => `${message} ${hint ?? ''}`.trim());
  }
}

function printSurroundings({ files, project, warnings }: Config, output: Output): void {
  output.line(`switchboard ${VERSION}, node ${process.version}, project ${project}`);
  output.line(
    files.length > 0 ? `configuration: ${files.join(', ')}` : 'configuration: none, defaults',
  );
  if (process.version.startsWith('v20.')) {
    output.line(
      output.style('yellow', 'Node 20 no longer gets security fixes; Node 22 or later does.'),
    );
  }
  for (const warning of warnings) output.line(output.style('yellow', `warning: ${warning}`));
  output.line();
}

function printFinding(finding: Finding, output: Output): void {
  const { name, ok, server, revision, tools, allowedTools, startMs, listMs, error, advice } =
    finding;
  if (ok) {
    const allowed = tools === allowedTools ? '' : ` (${allowedTools} allowed)`;
    const times = `started in ${formatMs(startMs ?? 0)}, listed in ${formatMs(listMs ?? 0)}`;
    output.line(
      `${output.style('green', '✓')} ${output.style('bold', name)}  ${count(tools ?? 0, 'tool')}${allowed}, ${times}`,
    );
    output.line(output.style('dim', `  ${server}, MCP ${revision}`));
  } else {
    output.line(
      `${output.style('red', '✗')} ${output.style('bold', name)}  ${cleanText(error?.message ?? '')}`,
    );
    const hint = cleanText(error?.hint ?? '');
    if (hint !== '') output.line(`  ${hint.replaceAll('\n', '\n  ')}`);
    output.line(output.style('dim', `  declared in ${finding.origin}`));
  }
  for (const sentence of advice) output.line(output.style('yellow', `  note: ${sentence}`));
}
