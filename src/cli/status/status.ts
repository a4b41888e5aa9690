// `switchboard status [child]`: what the running Switchboards of this user do, and, where none runs,
// what one would have to work with.
import { SwitchboardError } from '../../base/errors.ts';
import { findFolders } from '../../config/files/places.ts';
import { askRunning, type ControlAnswer } from '../../host/control-client.ts';
import { createOfflineReport, type OfflineReport } from '../../host/offline-report.ts';
import { parseReport } from '../../host/parse-report.ts';
import type { StatusReport } from '../../host/status-report.ts';
import { unknownChild } from '../../pool/pool.ts';
import { openCatalog } from '../../switchboard.ts';
import { nearestConfiguration } from '../commands/no-servers.ts';
import { type CommandOptions, loadFor, printWarnings } from '../commands/with-switchboard.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import {
  formatOffline,
  formatReport,
  formatUnanswered,
  type TableOptions,
  type Unanswered,
} from './status-table.ts';
import { watchLines } from './watch.ts';

export interface StatusOptions extends CommandOptions {
  readonly watch?: boolean | undefined;
}

/** All there is to say; with --json, the document. */
interface Overview {
  readonly project: string;
  /** The one child that was asked for; all, if undefined. */
  readonly child: string | undefined;
  readonly running: readonly StatusReport[];
  readonly unanswered: readonly Unanswered[];
  /** Of this project, if nothing of the above is about the children that were asked for. */
  readonly configured: OfflineReport | undefined;
}

/** Not sooner: also a program that is well takes a while on a machine that has much else to do. */
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
  throw new SwitchboardError(
    'USAGE',
    '--watch draws on a terminal, and there is none to draw on.',
    {
      hint: 'For a program, run: switchboard status --json',
    },
  );
}

async function lookAround(
  childName: string | undefined,
  options: StatusOptions,
): Promise<Overview> {
  const { home, project } = findFolders({ cwd: workingFolder(), env: process.env });
  const answers = await askRunning(home, 'status', LIMIT_MS);
  const reports = answers.flatMap(({ value }) => parseReport(value) ?? []);
  const running = reports.map((report) => onlyAsked(report, childName)).filter(isAsked);
  running.sort((a, b) => Number(b.project === project) - Number(a.project === project));
  const unanswered = answers.flatMap(withoutReport);
  const overview = { project, child: childName, running, unanswered, configured: undefined };
  const isAnswered = childName === undefined ? answers.length > 0 : running.length > 0;
  if (isAnswered) return overview;

  const config = await loadFor(options);
  const catalog = openCatalog(config, () => {}); // nothing is written here
  const offline = createOfflineReport(config, catalog);
  if (childName !== undefined && !config.children.has(childName)) {
    printWarnings(config.missing ?? []);
    const named = [offline, ...reports].flatMap(({ children }) => children);
    throw unknownChild(childName, [...new Set(named.map(({ name }) => name))]);
  }
  return { ...overview, configured: onlyChild(offline, childName) };

  function isAsked({ children }: StatusReport): boolean {
    return childName === undefined || children.length > 0;
  }
}

/** Who asks for one server is not told of agents. */
function onlyAsked(report: StatusReport, childName: string | undefined): StatusReport {
  return childName === undefined ? report : { ...onlyChild(report, childName), runs: [] };
}

function onlyChild<Report extends { readonly children: readonly { readonly name: string }[] }>(
  report: Report,
  childName: string | undefined,
): Report {
  if (childName === undefined) return report;
  return { ...report, children: report.children.filter(({ name }) => name === childName) };
}

function withoutReport({ pid, project, value, problem }: ControlAnswer): Unanswered[] {
  if (problem !== undefined) return [{ pid, project, problem }];
  return parseReport(value) ? [] : [{ pid, project, problem: 'gave an answer that is no report' }];
}

function formatOverview(overview: Overview, output: Output): string[] {
  const { project, running, unanswered, configured } = overview;
  const { width, style } = output;
  const options: TableOptions = { width, now: Date.now(), style };
  const isHere = [...running, ...unanswered].some((program) => program.project === project);
  const blocks = [
    ...(configured ? [formatOffline(configured, options)] : []),
    ...running.map((report) => formatReport(report, options)),
    ...unanswered.map((program) => formatUnanswered(program, options)),
  ];
  if (!isHere) blocks.unshift([noneRuns(overview)]);
  return blocks
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .split('\n');
}

function noneRuns({ project, child, configured }: Overview): string {
  if (!configured) return `No Switchboard is running for this project, ${project}.`;
  return child === undefined
    ? 'No Switchboard is running.'
    : 'No Switchboard that has this server is running.';
}
