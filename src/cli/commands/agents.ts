// `switchboard agents [name]`: which agents were found and where, what each becomes on the engine, which
// servers it gets, and whatever is wrong with any of it.
import { isAbsolute, join, relative } from 'node:path';
import type { ListedAgent, RunFields } from '../../agents/agent.ts';
import { codexHomeOf } from '../../agents/codex-home.ts';
import { cleanText, excerpt, printable } from '../../base/text.ts';
import type { Config } from '../../config/config.ts';
import { printSkipped } from '../doctor/agent-files.ts';
import { describeFailure, type Failure } from '../terminal/failure.ts';
import { formatRows, type Row } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { chosenAgent, findAgents } from './run-agent.ts';
import { type CommandOptions, type Workplace, withSwitchboard } from './with-switchboard.ts';

export interface AgentsOptions extends CommandOptions {
  /** Start servers: those that agents get, and those whose tools are not known yet. */
  readonly check?: boolean | undefined;
}

interface Finding {
  readonly tool: string;
  readonly name: string;
  readonly kind: ListedAgent['kind'];
  readonly dialect: ListedAgent['dialect'];
  readonly file: string;
  /** The host that reads the file itself, and is not shown the agent. */
  readonly host: string | undefined;
  readonly description: string;
  readonly tags: readonly string[];
  readonly instructionChars: number;
  readonly run: RunFields;
  /** Tools of servers that it names. */
  readonly references: readonly string[];
  readonly servers: readonly GivenServer[];
  readonly warnings: readonly string[];
  readonly error: Failure | undefined;
}

interface GivenServer {
  readonly key: string;
  /** Where it is declared. */
  readonly origin: string;
  readonly enabledTools?: readonly string[];
}

export async function showAgents(
  name: string | undefined,
  options: AgentsOptions,
): Promise<number> {
  const output = createOutput(options);
  const quiet = { ...options, warnings: 'shown' } as const;
  const report = await withSwitchboard(quiet, async (workplace) => {
    const { config } = workplace;
    const list = await findAgents(config, workplace.switchboard);
    const { agents, hidden, folders } = list;
    const chosen = name === undefined ? agents : [chosenAgent(agents, name)];
    using progress = new Progress();
    const found = chosen.map((agent) =>
      progress.during(agent.toolName, examine(agent, workplace, options.check === true)),
    );
    const findings = await Promise.all(found);
    const told = new Set(findings.flatMap(({ warnings }) => warnings));
    const available = await (await (await workplace.switchboard.crew()).servers()).available();
    const problems = [...config.warnings, ...list.problems, ...available.warnings];
    return {
      show: config.agents.show,
      project: config.project,
      engine: await findEngine(workplace),
      agents: findings,
      hidden,
      folders,
      servers: available.servers.map(({ key, origin }) => ({ key, origin })),
      codexFile: codexFileOf(config),
      leftOut: Object.fromEntries(available.leftOut),
      problems: problems.filter((text) => !told.has(text)),
      skipped: list.skipped,
    };
  });
  output.json(report);
  for (const finding of report.agents) print(finding, report.project, output);
  if (report.agents.length + report.hidden === 0) printFolders(report.folders, output);
  if (report.hidden > 0) {
    const are = report.hidden === 1 ? 'is' : 'are';
    output.line(`${count(report.hidden, 'agent')} ${are} hidden by AGENTS_FILTER.`);
  }
  if (name === undefined) {
    output.line(`Engine: ${report.engine.path ?? report.engine.error?.message ?? ''}`);
    if (report.engine.error?.hint !== undefined) output.line(`  ${report.engine.error.hint}`);
    printCodexServers(report, output);
    if (report.show !== 'direct') output.line(`Agents are shown as: ${report.show}`);
    for (const problem of report.problems) printWarning(problem, output);
    printSkipped(report, output);
    output.line(
      `${count(report.agents.length, 'agent')}, ${count(report.servers.length, 'server')} to give them.`,
    );
  }
  return report.agents.some(({ error }) => error) ? 5 : 0;
}

async function examine(
  listed: ListedAgent,
  { switchboard, cancellation }: Workplace,
  isCheck: boolean,
): Promise<Finding> {
  const { toolName: tool, name, kind, dialect, file, host, description, tags } = listed;
  const shown = { tool, name, kind, dialect, file, host, description, tags };
  try {
    const crew = await switchboard.crew();
    const agent = await crew.load(listed);
    const servers = await crew.servers();
    const how = { isQuiet: !isCheck, isTried: isCheck };
    const given = await servers.serversFor(agent, cancellation, how);
    return {
      ...shown,
      instructionChars: agent.instructions?.length ?? 0,
      run: agent.run,
      references: agent.tools.map(({ text }) => text),
      servers: given.servers.map(({ key, enabledTools }) => ({
        key,
        origin: given.origins.get(key) ?? '',
        ...(enabledTools && { enabledTools }),
      })),
      warnings: [
        ...agent.warnings,
        ...given.warnings,
        ...given.lacks.map((lack) => `${file}: ${lack}`),
        ...(await crew.warningsAboutModel(agent)),
      ],
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

const ENGINE_TOOLS = [
  ['includePlanTool', 'plan'],
  ['includeApplyPatchTool', 'apply_patch'],
  ['includeViewImageTool', 'view_image'],
  ['toolsWebSearchRequest', 'web_search'],
] as const satisfies readonly (readonly [keyof RunFields, string])[];

function print(finding: Finding, project: string, output: Output): void {
  const { tool, description, file, dialect, run, references, servers, tags, error } = finding;
  output.line(`${output.style('bold', tool)}  ${excerpt(description, 100)}`);
  const rows: Row[] = [];
  const row = (title: string, text = ''): void => {
    if (text !== '') rows.push({ cells: [{ text: title }, { text: printable(text) }] });
  };
  row('file', `${file} (${dialect})`);
  row('hidden from', finding.host && `${finding.host}, which reads the file itself`);
  row('tags', tags.join(', '));
  row(
    'model',
    [run.model, run.modelProvider && `(${run.modelProvider})`].filter(Boolean).join(' '),
  );
  row('effort', run.modelReasoningEffort);
  row('summary', run.modelReasoningSummary);
  row('verbosity', run.modelVerbosity);
  row('address', run.chatgptBaseUrl);
  row('sandbox', run.sandboxMode);
  row('approval', run.approvalPolicy);
  row('storage', run.disableResponseStorage === undefined ? '' : 'never, whatever is said');
  row('engine tools', engineTools(run));
  row('tools', references.join(', '));
  row(
    'servers',
    servers.map(({ key, origin }) => `${key} (${fromWhere(origin, file, project)})`).join(', '),
  );
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
  if (error) {
    const { message, hint = '' } = error;
    const text = `${output.style('red', message)} ${hint}`;
    output.line(`  ${text.replaceAll('\n', '\n  ')}`);
  }
  for (const warning of finding.warnings) printWarning(warning, output);
  output.line();
}

/** Those that the agent has, and those that it says it has not. */
function engineTools(run: RunFields): string {
  const has = ENGINE_TOOLS.flatMap(([field, name]) => (run[field] ? [name] : []));
  const lacks = ENGINE_TOOLS.flatMap(([field, name]) => (run[field] === false ? [name] : []));
  return [...has, ...lacks.map((name) => `not ${name}`)].join(', ');
}

function fromWhere(origin: string, file: string, project: string): string {
  if (origin === file) return 'its own';
  const inside = isAbsolute(origin) ? relative(project, origin) : origin;
  const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return `from ${isInside ? inside : origin}`;
}

/** Where Codex has its user's servers. */
function codexFileOf({ agents: settings, homeFolder }: Config): string {
  return join(codexHomeOf({ settings, env: process.env, homeFolder }), 'config.toml');
}

/** Codex attaches them to every session of its own, so users expect that of agents, too. */
function printCodexServers(
  { servers, codexFile }: { servers: readonly GivenServer[]; codexFile: string },
  output: Output,
): void {
  const [first, ...others] = servers.filter(({ origin }) => origin === codexFile);
  if (!first) return;
  const keys = [first, ...others].map(({ key }) => key).join(', ');
  output.line(
    cleanText(
      `Your own Codex servers are attached only to agents that name them, for example with "${first.key}::*" in tools: ${keys} (${codexFile})`,
    ),
  );
}

function printFolders(folders: readonly string[], output: Output): void {
  if (folders.length === 0) {
    output.line('No agents are looked for: every kind of them is switched off (AGENTS_ENABLE_…).');
    return;
  }
  output.line('No agents were found. These folders were looked at:');
  for (const folder of folders) output.line(`  ${cleanText(folder)}`);
}

function printWarning(warning: string, output: Output): void {
  output.line(`  ${output.style('yellow', `warning: ${warning}`)}`);
}
