// `switchboard agents [name]`: the agents and their files, how each runs on the engine, which servers it gets, and any
// problems.
import { isAbsolute } from 'node:path';
import { BUILTIN_TOOLS, type ListedAgent, type RunFields } from '../../agents/agent.ts';
import type { Engine } from '../../agents/engine.ts';
import { formatRunFields } from '../../agents/formats/run-fields.ts';
import { pathInside } from '../../base/paths.ts';
import { cleanText, excerpt, printable } from '../../base/text.ts';
import { printSkipped } from '../doctor/agent-files.ts';
import { describeFailure, type Failure } from '../terminal/failure.ts';
import { formatRows, type Row } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { chosenAgent, findAgents } from './run-agent.ts';
import { type CommandContext, type CommandOptions, withSwitchboard } from './with-switchboard.ts';

export interface AgentsOptions extends CommandOptions {
  /** Start the servers that agents get, and those whose tools aren't known yet. */
  readonly check?: boolean | undefined;
}

interface Finding {
  readonly tool: string;
  readonly name: string;
  readonly kind: ListedAgent['kind'];
  readonly dialect: ListedAgent['dialect'];
  readonly file: string;
  /** A host that reads the file itself, so the agent is hidden from it. */
  readonly host: string | undefined;
  readonly description: string;
  readonly tags: readonly string[];
  readonly instructionChars: number;
  readonly run: RunFields;
  /** The server tools it names. */
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
  const report = await withSwitchboard(quiet, async (context) => {
    const { config } = context;
    const list = await findAgents(config, context.switchboard);
    const { agents, hidden, folders } = list;
    const chosen = name === undefined ? agents : [chosenAgent(agents, name)];
    using progress = new Progress();
    const found = chosen.map((agent) =>
      progress.during(agent.toolName, examine(agent, context, options.check === true)),
    );
    const findings = await Promise.all(found);
    const reported = new Set(findings.flatMap(({ warnings }) => warnings));
    const crew = await context.switchboard.crew();
    const available = await (await crew.servers()).available();
    const engine = await crew.engine();
    const problems = [...config.warnings, ...list.problems, ...available.warnings];
    return {
      show: config.agents.show,
      project: config.project,
      engineName: engine.name,
      engine: locate(engine),
      agents: findings,
      hidden,
      folders,
      servers: available.servers.map(({ key, origin }) => ({ key, origin })),
      codexFile: engine.serversFile(),
      leftOut: Object.fromEntries(available.leftOut),
      problems: problems.filter((text) => !reported.has(text)),
      skipped: list.skipped,
    };
  });
  const { engineName, ...printed } = report;
  output.json({
    ...printed,
    agents: report.agents.map((agent) => ({ ...agent, run: formatRunFields(agent.run) })),
  });
  for (const finding of report.agents) print(finding, report.project, output);
  if (report.agents.length + report.hidden === 0) printFolders(report.folders, output);
  if (report.hidden > 0) {
    const are = report.hidden === 1 ? 'is' : 'are';
    output.line(`${count(report.hidden, 'agent')} ${are} hidden by AGENTS_FILTER.`);
  }
  if (name === undefined) {
    output.line(`Engine: ${report.engine.path ?? report.engine.error?.message ?? ''}`);
    if (report.engine.error?.hint !== undefined) output.line(`  ${report.engine.error.hint}`);
    printEngineServers({ ...report, engineName }, output);
    if (report.show !== 'direct') output.line(`Agents are shown as: ${report.show}`);
    for (const problem of report.problems) printWarning(problem, output);
    printSkipped(report, output);
    output.line(
      `${count(report.agents.length, 'agent')}, ${count(report.servers.length, 'server')} available to them.`,
    );
  }
  return report.agents.some(({ error }) => error) ? 5 : 0;
}

async function examine(
  listed: ListedAgent,
  { switchboard, cancellation }: CommandContext,
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
        ...agent.limits.map((limit) => `${file}: ${limit}`),
        ...given.warnings,
        ...given.lacks.map((lack) => `${file}: ${lack}`),
        ...(await (await crew.engine()).check(agent.run)).map((warning) => `${file}: ${warning}`),
      ],
      error: undefined,
    };
  } catch (error) {
    cancellation.throwIfCancelled();
    return { ...shown, ...NOTHING, error: describeFailure(error) };
  }
}

const NOTHING = { instructionChars: 0, run: {}, references: [], servers: [], warnings: [] };

function locate(engine: Engine) {
  try {
    return { path: engine.locate(), error: undefined };
  } catch (error) {
    return { path: undefined, error: describeFailure(error) };
  }
}

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
  row('model', [run.model, run.provider && `(${run.provider})`].filter(Boolean).join(' '));
  row('effort', run.effort);
  row('summary', run.summary);
  row('verbosity', run.verbosity);
  row('address', run.baseUrl);
  row('sandbox', run.sandbox);
  row('approval', run.approvals);
  row('storage', run.disableStorage === undefined ? '' : 'never (the setting has no effect)');
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

/** The tools the agent enables, and those it disables. */
function engineTools({ builtins = {} }: RunFields): string {
  const has = BUILTIN_TOOLS.filter((name) => builtins[name]);
  const lacks = BUILTIN_TOOLS.filter((name) => builtins[name] === false);
  return [...has, ...lacks.map((name) => `not ${name}`)].join(', ');
}

function fromWhere(origin: string, file: string, project: string): string {
  if (origin === file) return 'its own';
  const inside = isAbsolute(origin) ? pathInside(project, origin) : undefined;
  return `from ${inside ?? origin}`;
}

/** The engine attaches them to every session of its own, so users may expect the same of agents. */
function printEngineServers(
  report: {
    readonly servers: readonly GivenServer[];
    readonly codexFile: string;
    readonly engineName: string;
  },
  output: Output,
): void {
  const { servers, codexFile: file, engineName } = report;
  const [first, ...others] = servers.filter(({ origin }) => origin === file);
  if (!first) return;
  const keys = [first, ...others].map(({ key }) => key).join(', ');
  output.line(
    cleanText(
      `Your own ${engineName} servers are attached only to agents that name them, for example with "${first.key}::*" in tools: ${keys} (${file})`,
    ),
  );
}

function printFolders(folders: readonly string[], output: Output): void {
  if (folders.length === 0) {
    output.line('All agent formats are disabled (AGENTS_ENABLE_…).');
    return;
  }
  output.line('No agents found in:');
  for (const folder of folders) output.line(`  ${cleanText(folder)}`);
}

function printWarning(warning: string, output: Output): void {
  output.line(`  ${output.style('yellow', `warning: ${warning}`)}`);
}
