// `switchboard agents [name]`: which agents were found and where, what each becomes on the engine, which
// servers it gets, and whatever is wrong with any of it.
import type { Agent, ListedAgent, RunFields } from '../agents/agent.ts';
import { listAgents } from '../agents/list.ts';
import { cleanText, excerpt } from '../base/text.ts';
import { describeFailure, type Failure } from './failure.ts';
import { count, createOutput, type Output } from './output.ts';
import { Progress } from './progress.ts';
import { chosenAgent } from './run-agent.ts';
import { type CommandOptions, type Workplace, withSwitchboard } from './with-switchboard.ts';

export interface AgentsOptions extends CommandOptions {
  /** Start servers whose tools are not known yet. */
  readonly check?: boolean | undefined;
}

interface Finding {
  readonly tool: string;
  readonly name: string;
  readonly kind: ListedAgent['kind'];
  readonly dialect: ListedAgent['dialect'];
  readonly file: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly instructionChars: number;
  readonly run: RunFields;
  /** Tools of servers that it names. */
  readonly references: readonly string[];
  readonly servers: readonly { readonly key: string; readonly enabledTools?: readonly string[] }[];
  readonly warnings: readonly string[];
  readonly error: Failure | undefined;
}

export async function showAgents(
  name: string | undefined,
  options: AgentsOptions,
): Promise<number> {
  const output = createOutput(options);
  const report = await withSwitchboard(options, async (workplace) => {
    const { config } = workplace;
    const { agents, problems } = await listAgents({ ...config, settings: config.agents });
    const chosen = name === undefined ? agents : [chosenAgent(agents, name)];
    using progress = new Progress();
    const found = chosen.map((agent) =>
      progress.during(agent.toolName, examine(agent, workplace, options.check !== true)),
    );
    const findings = await Promise.all(found);
    const told = new Set(findings.flatMap(({ warnings }) => warnings));
    const available = await (await (await workplace.switchboard.crew()).servers()).available();
    return {
      show: config.agents.show,
      engine: await findEngine(workplace),
      agents: findings,
      servers: available.servers.map(({ key, origin }) => ({ key, origin })),
      leftOut: Object.fromEntries(available.leftOut),
      problems: [...problems, ...available.warnings].filter((text) => !told.has(text)),
    };
  });
  output.json(report);
  for (const finding of report.agents) print(finding, output);
  if (report.agents.length === 0) {
    output.line('No agents were found. docs/agents.md says where they are looked for.');
  }
  if (name === undefined) {
    output.line(`Engine: ${report.engine.path ?? report.engine.error?.message ?? ''}`);
    if (report.engine.error?.hint !== undefined) output.line(`  ${report.engine.error.hint}`);
    if (report.show !== 'direct') output.line(`Agents are shown as: ${report.show}`);
    for (const problem of report.problems) printWarning(problem, output);
    output.line(
      `${count(report.agents.length, 'agent')}, ${count(report.servers.length, 'server')} to give them.`,
    );
  }
  return report.agents.some(({ error }) => error) ? 5 : 0;
}

async function examine(
  listed: ListedAgent,
  { switchboard, cancellation }: Workplace,
  isQuiet: boolean,
): Promise<Finding> {
  const { toolName: tool, name, kind, dialect, file, description, tags } = listed;
  const shown = { tool, name, kind, dialect, file, description, tags };
  try {
    const crew = await switchboard.crew();
    const agent = await crew.load(listed);
    const servers = await crew.servers();
    const given = await servers.serversFor(agent, cancellation, { isQuiet });
    return {
      ...shown,
      instructionChars: agent.instructions?.length ?? 0,
      run: agent.run,
      references: agent.tools.map(({ text }) => text),
      servers: given.servers.map(({ key, enabledTools }) =>
        enabledTools ? { key, enabledTools } : { key },
      ),
      warnings: [...agent.warnings, ...given.warnings, ...(await crew.warningsAboutModel(agent))],
      error: undefined,
    };
  } catch (error) {
    cancellation.throwIfCancelled();
    return { ...shown, ...NOTHING, error: describeFailure(error) };
  }
}

const NOTHING = { instructionChars: 0, run: {}, references: [], servers: [], warnings: [] };

async function findEngine({ switchboard }: Workplace) {
  try {
    return { path: await (await switchboard.crew()).findEngine(), error: undefined };
  } catch (error) {
    return { path: undefined, error: describeFailure(error) };
  }
}

const BUILT_INS = [
  ['includePlanTool', 'plan'],
  ['includeApplyPatchTool', 'apply_patch'],
  ['includeViewImageTool', 'view_image'],
  ['toolsWebSearchRequest', 'web_search'],
] as const satisfies readonly (readonly [keyof Agent['run'], string])[];

function print(finding: Finding, output: Output): void {
  const { tool, description, file, dialect, run, references, servers, tags, error } = finding;
  output.line(`${output.style('bold', tool)}  ${excerpt(description, 100)}`);
  const row = (title: string, text: string): void => {
    if (text !== '') output.line(`  ${title.padEnd(9)} ${cleanText(text)}`);
  };
  row('file', `${file} (${dialect})`);
  row('tags', tags.join(', '));
  row(
    'model',
    [run.model, run.modelProvider && `(${run.modelProvider})`].filter(Boolean).join(' '),
  );
  row('built in', BUILT_INS.flatMap(([field, name]) => (run[field] ? [name] : [])).join(', '));
  row('sandbox', run.sandboxMode ?? '');
  row('approval', run.approvalPolicy ?? '');
  row('names', references.join(', '));
  row('servers', servers.map(({ key }) => key).join(', '));
  if (error) output.line(`  ${output.style('red', error.message)} ${error.hint ?? ''}`);
  for (const warning of finding.warnings) printWarning(warning, output);
  output.line();
}

function printWarning(warning: string, output: Output): void {
  output.line(`  ${output.style('yellow', `warning: ${warning}`)}`);
}
