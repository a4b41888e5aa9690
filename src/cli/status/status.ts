// `switchboard status [server]`: this user's running Switchboard processes and their servers, or the configured servers
// if none is running.
import { SwitchboardError } from '../../base/errors.ts';
import { findFolders } from '../../config/files/places.ts';
import type { BackgroundReport } from '../../host/background-report.ts';
import { askPrograms, type ProgramAnswer } from '../../host/control-client.ts';
import { createOfflineReport, type OfflineReport } from '../../host/offline-report.ts';
import { parseBackgroundReport, parseReport } from '../../host/parse-report.ts';
import type { StatusReport } from '../../host/status-report.ts';
import { unknownChild } from '../../pool/pool.ts';
import { openCatalog } from '../../switchboard.ts';
import { nearestConfiguration } from '../commands/no-servers.ts';
import { type CommandOptions, loadFor, printWarnings } from '../commands/with-switchboard.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import {
  formatBackground,
  formatOffline,
  formatReport,
  formatSilent,
  type SilentProgram,
  type TableOptions,
} from './status-table.ts';
import { watchLines } from './watch.ts';

export interface StatusOptions extends CommandOptions {
  readonly watch?: boolean | undefined;
}

/** The `--json` document. */
interface Overview {
  readonly project: string;
  /** Undefined for all servers. */
  readonly child: string | undefined;
  /** Those that serve sessions of several hosts. */
  readonly backgrounds: readonly BackgroundReport[];
  /** Those that serve alone. */
  readonly running: readonly StatusReport[];
  readonly unanswered: readonly SilentProgram[];
  /** The project's servers, if no running Switchboard has the requested ones. */
  readonly configured: OfflineReport | undefined;
}

/** On a busy machine, a healthy process may take a while to answer. */
const LIMIT_MS = 3_000;

export async function showStatus(
  childName: string | undefined,
  options: StatusOptions,
): Promise<number> {
  const output = createOutput(options);
  const look = () => lookAround(childName, options);
  if (options.watch) refuseWithoutTerminal(output);
  const overview = await look();
  printWarnings(overview.configured?.missing ?? []);
  if (options.watch) {
    await watchLines(async () => formatOverview(await look(), output));
    return 0;
  }
  output.json(overview);
  for (const line of formatOverview(overview, output)) output.line(line);
  if (overview.configured?.children.length === 0) printNearest(output);
  return 0;
}

function printNearest(output: Output): void {
  const nearest = nearestConfiguration();
  if (nearest !== undefined) output.line(`\n${nearest}`);
}

function refuseWithoutTerminal({ isJson }: Output): void {
  if (process.stdout.isTTY && !isJson) return;
  throw new SwitchboardError('USAGE', '--watch requires a terminal.', {
    hint: 'In scripts, use: switchboard status --json',
  });
}

async function lookAround(
  childName: string | undefined,
  options: StatusOptions,
): Promise<Overview> {
  const { home, project } = findFolders({ cwd: workingFolder(), env: process.env });
  const answers = await askPrograms(home, { method: 'status', limitMs: LIMIT_MS });
  const [shared, alone] = [
    answers.filter(isBackground),
    answers.filter((one) => !isBackground(one)),
  ];
  const reports = alone.flatMap(({ value }) => parseReport(value) ?? []);
  const all = shared.flatMap(({ value }) => parseBackgroundReport(value) ?? []);
  const backgrounds = all.map((report) => onlyRequested(report, childName)).filter(isRequested);
  backgrounds.sort((a, b) => Number(b.isAccepting) - Number(a.isAccepting));
  const running = reports.map((report) => onlyRequested(report, childName)).filter(isRequested);
  running.sort((a, b) => Number(b.project === project) - Number(a.project === project));
  const unanswered = answers.flatMap(withoutReport);
  const overview = {
    project,
    child: childName,
    backgrounds,
    running,
    unanswered,
    configured: undefined,
  };
  const found = [...backgrounds, ...running];
  const isAnswered = childName === undefined ? answers.length > 0 : found.length > 0;
  if (isAnswered) return overview;

  const config = await loadFor(options);
  const catalog = openCatalog(config, () => {}); // read-only here
  const offline = createOfflineReport(config, catalog);
  if (childName !== undefined && !config.children.has(childName)) {
    printWarnings(config.missing ?? []);
    const named = [offline, ...reports, ...all].flatMap(({ children }) => children);
    throw unknownChild(childName, [...new Set(named.map(({ name }) => name))]);
  }
  return { ...overview, configured: onlyChild(offline, childName) };

  function isRequested({ children }: { readonly children: readonly unknown[] }): boolean {
    return childName === undefined || children.length > 0;
  }
}

/** Drops agent runs if only one server was requested. */
function onlyRequested<Report extends StatusReport | BackgroundReport>(
  report: Report,
  childName: string | undefined,
): Report {
  return childName === undefined ? report : { ...onlyChild(report, childName), runs: [] };
}

function onlyChild<Report extends { readonly children: readonly { readonly name: string }[] }>(
  report: Report,
  childName: string | undefined,
): Report {
  if (childName === undefined) return report;
  return { ...report, children: report.children.filter(({ name }) => name === childName) };
}

function isBackground({ endpoint }: ProgramAnswer): boolean {
  return endpoint.background !== undefined;
}

function withoutReport(answer: ProgramAnswer): SilentProgram[] {
  const { pid, project, value, problem } = answer;
  if (problem !== undefined) return [{ pid, project, problem }];
  const report = isBackground(answer) ? parseBackgroundReport(value) : parseReport(value);
  return report ? [] : [{ pid, project, problem: 'sent an invalid response' }];
}

function formatOverview(overview: Overview, output: Output): string[] {
  const { project, backgrounds, running, unanswered, configured } = overview;
  const { width, style } = output;
  const options: TableOptions = { width, now: Date.now(), style };
  const sessions = backgrounds.flatMap((report) => report.sessions);
  const isHere = [...sessions, ...running, ...unanswered].some((one) => one.project === project);
  const blocks = [
    ...(configured ? [formatOffline(configured, options)] : []),
    ...backgrounds.map((report) => formatBackground(report, options)),
    ...running.map((report) => formatReport(report, options)),
    ...unanswered.map((program) => formatSilent(program, options)),
  ];
  if (!isHere) blocks.unshift([noneRuns(overview)]);
  return blocks
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .split('\n');
}

function noneRuns({ project, child, configured, backgrounds }: Overview): string {
  if (!configured) {
    const what = backgrounds.length > 0 ? 'No session is open in' : 'No Switchboard is running for';
    return `${what} this project (${project}).`;
  }
  return child === undefined
    ? 'No Switchboard is running.'
    : 'No running Switchboard has this server.';
}
