// The tables of `switchboard status`: a heading per process, a line per server with its last error below, and a line
// per agent run with its folder and current step below.
import type { RunStatus } from '../../agents/run-status.ts';
import { formatDuration, onOneLine } from '../../base/text.ts';
import type { BackgroundReport, BackgroundSession } from '../../host/background-report.ts';
import type { OfflineChild, OfflineReport } from '../../host/offline-report.ts';
import type {
  ChildStatus,
  SessionStatus,
  ShownState,
  StatusReport,
} from '../../host/status-report.ts';
import { explainRefusedTools } from '../../mcp/clean-lists.ts';
import { columnsOf, cutEnd, cutStart } from '../terminal/columns.ts';
import { count, type Output, type Style } from '../terminal/output.ts';
import { explainApart } from '../terminal/sharing.ts';

export interface TableOptions {
  /** Columns of the terminal; Infinity without one. */
  readonly width: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly style: Output['style'];
}

/** A running Switchboard that didn't send a report. */
export interface SilentProgram {
  readonly pid: number;
  readonly project: string;
  readonly problem: string;
}

/** Part of a line, in one style. */
interface Part {
  readonly text: string;
  readonly style?: Style | undefined;
}

type Row = ChildStatus & Partial<Pick<OfflineChild, 'listedAt'>>;

interface Column<Line> {
  readonly title: string;
  readonly align: 'left' | 'right';
  readonly cell: (row: Line, now: number) => string;
  readonly style?: (row: Line) => Style | undefined;
}

interface Table<Line> {
  readonly name: Column<Line>;
  /** Empty columns are left out. */
  readonly columns: readonly Column<Line>[];
  /** The lines below a row. */
  readonly below: (row: Line) => readonly Part[];
}

const SIGNS: Record<ShownState, { readonly sign: string; readonly style: Style }> = {
  idle: { sign: '○', style: 'dim' },
  warming: { sign: '◐', style: 'yellow' },
  ready: { sign: '●', style: 'green' },
  active: { sign: '▶', style: 'green' },
  error: { sign: '✗', style: 'red' },
  off: { sign: '–', style: 'dim' },
};

const SERVERS: Table<Row> = {
  name: {
    title: 'server',
    align: 'left',
    cell: ({ name }) => plain(name),
    style: () => 'bold',
  },
  columns: [
    {
      title: 'state',
      align: 'left',
      cell: ({ state }) => `${SIGNS[state].sign} ${state}`,
      style: ({ state }) => SIGNS[state].style,
    },
    { title: 'shown', align: 'left', cell: ({ show }) => show },
    { title: 'pid', align: 'right', cell: ({ pid }) => String(pid ?? '') },
    { title: 'memory', align: 'right', cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
    {
      title: 'uptime',
      align: 'right',
      cell: ({ uptimeMs }) => (uptimeMs === undefined ? '' : formatDuration(uptimeMs)),
    },
    {
      title: 'sessions',
      align: 'right',
      cell: ({ sessions }) => String(sessions ?? ''),
    },
    { title: 'calls', align: 'right', cell: ({ calls }) => (calls === 0 ? '' : String(calls)) },
    { title: 'tools', align: 'right', cell: ({ tools }) => String(tools ?? '') },
    { title: 'listed', align: 'right', cell: ({ listedAt }, now) => formatAgo(listedAt, now) },
  ],
  below: ({ lastError, state, refusedTools = [], changes, apart = [] }) => [
    ...(lastError === undefined
      ? []
      : [{ text: plain(lastError), style: state === 'error' ? 'red' : 'dim' } as const]),
    ...[
      ...explainRefusedTools(refusedTools),
      ...explainChanges(changes),
      ...explainApart(apart),
    ].map((sentence) => ({ text: plain(sentence), style: 'yellow' }) as const),
  ],
};

const SESSIONS: Table<BackgroundSession> = {
  name: {
    title: 'session',
    align: 'left',
    cell: ({ client }) => nameClient(client),
    style: () => 'bold',
  },
  columns: [
    { title: 'project', align: 'left', cell: ({ project }) => plain(project) },
    { title: 'age', align: 'right', cell: ({ startedAt }, now) => formatElapsed(startedAt, now) },
    { title: 'served', align: 'left', cell: () => 'shared' },
  ],
  below: () => [],
};

const RUNS: Table<RunStatus> = {
  name: {
    title: 'agent',
    align: 'left',
    cell: ({ agent }) => plain(agent),
    style: () => 'bold',
  },
  columns: [
    {
      title: 'state',
      align: 'left',
      cell: ({ state }) => (state === 'running' ? '● running' : '○ queued'),
      style: ({ state }) => (state === 'running' ? 'green' : 'dim'),
    },
    { title: 'for', align: 'right', cell: ({ since }, now) => formatElapsed(since, now) },
    { title: 'ahead', align: 'right', cell: ({ before }) => String(before ?? '') },
  ],
  below: ({ cwd, doing }) => [
    {
      text: [plain(cwd), ...(doing === undefined ? [] : [plain(doing)])].join(': '),
      style: 'dim',
    },
  ],
};

/** Held tools are named on their own line. */
function explainChanges(changes: ChildStatus['changes']): string[] {
  const { rights = 0, passed = 0 } = changes ?? {};
  const parts = [
    ...(passed > 0 ? [`${count(passed, 'change')} since you last looked`] : []),
    ...(rights > 0 ? [`annotations held for ${count(rights, 'tool')}`] : []),
  ];
  return parts.length === 0 ? [] : [`Tools: ${parts.join(', ')} (see: switchboard changes)`];
}

const BACKGROUND = 'background process';
const GAP = '  ';
const INDENT = '  ';
const SHORTEST_NAME = 8;
const SHORTEST_PROJECT = 12;

export function formatReport(report: StatusReport, options: TableOptions): string[] {
  const { pid, startedAt, sessions, memoryBytes, project, children, runs } = report;
  const { configProblem } = report;
  const facts = [
    `pid ${pid}`,
    formatSince(startedAt, options.now),
    formatClients(sessions),
    'alone',
    formatBytes(memoryBytes),
  ];
  return [
    formatHeading(project, { text: facts.filter(Boolean).join(', ') }, options),
    ...formatConfigProblem(configProblem, options),
    ...formatServers(children, options),
    ...(runs.length === 0 ? [] : formatTable(runs, RUNS, options)),
  ];
}

function formatConfigProblem(problem: string | undefined, options: TableOptions): string[] {
  if (problem === undefined) return [];
  const lines = ['The previous configuration is still in effect:', plain(problem)];
  return lines.map((text) => paint([{ text: INDENT }, { text, style: 'yellow' }], options));
}

export function formatBackground(report: BackgroundReport, options: TableOptions): string[] {
  const { version, pid, startedAt, memoryBytes, isAccepting, sessions, children, runs } = report;
  const facts = [
    `version ${plain(version)}`,
    `pid ${pid}`,
    formatSince(startedAt, options.now),
    formatBytes(memoryBytes),
    count(sessions.length, 'session'),
    isAccepting ? '' : 'accepts no new sessions',
  ];
  return [
    formatHeading(BACKGROUND, { text: facts.filter(Boolean).join(', ') }, options),
    ...(sessions.length === 0 ? [] : formatTable(sessions, SESSIONS, options)),
    ...(children.length === 0 ? [] : formatTable(children, SERVERS, options)),
    ...(runs.length === 0 ? [] : formatTable(runs, RUNS, options)),
  ];
}

export function formatSilent(
  { pid, project, problem }: SilentProgram,
  options: TableOptions,
): string[] {
  const rest: Part = { text: `pid ${pid}: ${plain(problem)}`, style: 'yellow' };
  return [formatHeading(project || BACKGROUND, rest, options)];
}

export function formatOffline(
  { project, children }: OfflineReport,
  options: TableOptions,
): string[] {
  return [
    formatHeading(project, { text: 'as configured' }, options),
    ...formatServers(children, options),
  ];
}

/** Cuts the start of the project's path if needed, because its end is more useful. */
function formatHeading(project: string, rest: Part, options: TableOptions): string {
  const room = options.width - rest.text.length - GAP.length;
  const name = cutStart(plain(project), Math.max(SHORTEST_PROJECT, room));
  return paint([{ text: name, style: 'bold' }, { text: GAP }, rest], options);
}

function formatServers(rows: readonly Row[], options: TableOptions): string[] {
  if (rows.length > 0) return formatTable(rows, SERVERS, options);
  return [paint([{ text: `${INDENT}No servers are configured.` }], options)];
}

function formatTable<Line>(
  rows: readonly Line[],
  { name, columns: possible, below }: Table<Line>,
  options: TableOptions,
): string[] {
  const { width, now } = options;
  const cellsOf = (column: Column<Line>) => rows.map((row) => column.cell(row, now));
  const used = possible.filter((column) => cellsOf(column).some((cell) => cell !== ''));
  const widthOf = (column: Column<Line>) =>
    Math.max(column.title.length, ...cellsOf(column).map(columnsOf));
  const others = used.reduce((sum, column) => sum + GAP.length + widthOf(column), INDENT.length);
  const nameWidth = Math.min(widthOf(name), Math.max(SHORTEST_NAME, width - others));
  const columns = [
    { column: name, width: nameWidth },
    ...used.map((column) => ({ column, width: widthOf(column) })),
  ];
  const line = (part: (column: Column<Line>) => Part): string => {
    const cells = columns.map(({ column, width }) => pad(part(column), width, column.align));
    return paint([{ text: INDENT }, ...cells.flatMap((cell) => [cell, { text: GAP }])], options);
  };
  return [
    line(({ title }) => ({ text: title, style: 'dim' })),
    ...rows.flatMap((row) => [
      line(({ cell, style }) => ({ text: cell(row, now), style: style?.(row) })),
      ...formatBelow(below(row), options),
    ]),
  ];
}

function formatBelow(parts: readonly Part[], options: TableOptions): string[] {
  return parts.map((part) => paint([{ text: INDENT + INDENT }, part], options));
}

/** One line of text, without terminal escape sequences. */
function plain(text: string): string {
  return onOneLine(text).trim();
}

function pad({ text, style }: Part, width: number, align: 'left' | 'right'): Part {
  const shown = cutEnd(text, width);
  const blanks = ' '.repeat(width - columnsOf(shown));
  return { text: align === 'left' ? shown + blanks : blanks + shown, style };
}

/** Joins the parts, cut to the width, without trailing spaces. */
function paint(parts: readonly Part[], { width, style }: TableOptions): string {
  const last = parts.findLastIndex(({ text }) => text.trim() !== '');
  let room = width;
  return parts
    .slice(0, last + 1)
    .map((part, index) => {
      const text = cutEnd(index === last ? part.text.trimEnd() : part.text, room);
      room -= columnsOf(text);
      return part.style === undefined || text.trim() === '' ? text : style(part.style, text);
    })
    .join('');
}

function formatClients(sessions: readonly SessionStatus[]): string {
  const names = sessions.map(({ client }) => nameClient(client));
  return [...new Set(names)].join(', ') || 'no host';
}

function nameClient(client: string | undefined): string {
  return client === undefined ? 'a host' : plain(client);
}

/** The time of day, with the date if it isn't today. */
function formatSince(iso: string, now: number): string {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return '';
  const time = then.toTimeString().slice(0, 5);
  if (then.toDateString() === new Date(now).toDateString()) return `since ${time}`;
  const [month, day] = [then.getMonth() + 1, then.getDate()].map((n) => String(n).padStart(2, '0'));
  return `since ${then.getFullYear()}-${month}-${day} ${time}`;
}

function formatAgo(iso: string | undefined, now: number): string {
  const elapsed = formatElapsed(iso, now);
  return elapsed === '' ? '' : `${elapsed} ago`;
}

function formatElapsed(iso: string | undefined, now: number): string {
  const ms = iso === undefined ? Number.NaN : now - Date.parse(iso);
  return Number.isNaN(ms) ? '' : formatDuration(Math.max(0, ms));
}

function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const megabytes = bytes / 1_000_000;
  if (megabytes >= 1_000) return `${(megabytes / 1_000).toFixed(1)} GB`;
  return `${megabytes < 10 ? megabytes.toFixed(1) : Math.round(megabytes)} MB`;
}
