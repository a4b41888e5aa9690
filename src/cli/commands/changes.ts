// `switchboard changes [server]` and `switchboard changes accept [server] [tool]`: shows which tools, prompts and
// instructions servers have changed, and accepts those that are held.
import { SwitchboardError } from '../../base/errors.ts';
import { didYouMean, printable } from '../../base/text.ts';
import type { Config } from '../../config/config.ts';
import { askRunning } from '../../host/control-client.ts';
import type { Hints } from '../../mcp/annotations.ts';
import { openCatalog } from '../../switchboard.ts';
import type { AuditSink } from '../../trust/audit/events.ts';
import { acceptChanges, nameInKey } from '../../trust/changes/accept.ts';
import {
  compareWords,
  type Difference,
  type ItemKind,
  type ItemRecord,
  itemOfKey,
  type ServerRecord,
} from '../../trust/changes/record.ts';
import { ChangeRecords, fileFor } from '../../trust/changes/records.ts';
import type { Finding } from '../../trust/scanner/finding.ts';
import { withAudit } from '../terminal/audited.ts';
import { formatRows, indentText } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { type CommandOptions, loadFor, printWarnings } from './with-switchboard.ts';

/**
 * `held`: not listed until it is accepted. `rights`: its annotations claim more than was accepted, and permissions
 * ignore that. `passed`: it is in use.
 */
type ChangeStatus = 'held' | 'rights' | 'passed';

interface ChangeRow {
  readonly server: string;
  /** The file that declares the server. */
  readonly origin: string;
  readonly kind: ItemKind;
  readonly name: string;
  readonly status: ChangeStatus;
  readonly what: 'added' | 'changed';
  /** ISO 8601. */
  readonly at: string;
  readonly difference: Difference;
  readonly hints?: { readonly before: Hints; readonly after: Hints } | undefined;
  readonly findings: readonly Finding[];
}

/** A running Switchboard only has to note it. */
const LIMIT_MS = 3_000;

export async function showChanges(
  server: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const chosen = await chooseRecords(server, options);
  const rows = [...chosen.records.values()].flatMap(rowsOf);
  output.json({ changes: rows });
  if (rows.length === 0) {
    output.line(
      server === undefined
        ? 'No changes. Switchboard compares tools each time a server lists them.'
        : `No changes to server "${printable(server)}".`,
    );
    return 0;
  }
  for (const row of rows) printRow(row, output);
  printSummary(rows, output);
  return 0;
}

export async function acceptCommand(
  server: string | undefined,
  tool: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const chosen = await chooseRecords(server, options);
  const { config, records } = chosen;
  const accepted = await withAudit(config, (audit) => accept(chosen, tool, audit));
  if (tool !== undefined && ![...records.values()].some((record) => isKnown(record, tool))) {
    throw unknownItem(server ?? '', tool, [...records.values()]);
  }
  await askRunning(config.home, 'recheck', LIMIT_MS);
  output.json({ accepted });
  for (const { server: of, kind, name } of accepted) {
    output.line(`accepted: ${nameChange({ kind, name })} of server "${printable(of)}"`);
  }
  if (accepted.length === 0) output.line('Nothing was held.');
  return 0;
}

interface AcceptedItem {
  readonly server: string;
  readonly kind: ItemKind;
  readonly name: string;
}

async function accept(
  { config, records, store }: ChosenRecords,
  tool: string | undefined,
  audit: AuditSink | undefined,
): Promise<AcceptedItem[]> {
  const accepted: AcceptedItem[] = [];
  await audit?.admit();
  for (const [file, found] of records) {
    if (tool !== undefined && !isKnown(found, tool)) continue;
    await updateRecord(store, file, (current) => {
      const acceptance = acceptChanges(current ?? found, tool);
      accepted.push(
        ...acceptance.accepted.map((key) => ({ server: found.name, ...itemOfKey(key) })),
      );
      return acceptance.record;
    });
    await forgetLists(config, file);
  }
  for (const item of accepted) {
    audit?.note({ type: 'approval', decision: 'accepted', by: 'user', ...item });
  }
  return accepted;
}

interface ChosenRecords {
  readonly config: Config;
  readonly store: ChangeRecords;
  /** By file. */
  readonly records: ReadonlyMap<string, ServerRecord>;
}

/** The records of this project's servers, and of those that only other projects or agents use. */
async function chooseRecords(
  server: string | undefined,
  options: CommandOptions,
): Promise<ChosenRecords> {
  const config = await loadFor({ ...options, assistants: false });
  const store = new ChangeRecords(config.home, (problem) => printWarnings([problem]));
  const all = store.all();
  const own = new Map([...config.children.values()].map((child) => [fileFor(child), child]));
  if (server === undefined) return { config, store, records: all };
  const named = [...all].filter(([, { name }]) => name === server);
  const here = named.filter(([file]) => own.has(file));
  if (named.length === 0 && !config.children.has(server)) {
    const names = [...config.children.keys(), ...[...all.values()].map(({ name }) => name)];
    throw new SwitchboardError('CHILD_UNKNOWN', `No server is named "${server}".`, {
      hint: didYouMean(server, names) || 'To see all changes, run: switchboard changes',
    });
  }
  return { config, store, records: new Map(here.length > 0 ? here : named) };
}

async function updateRecord(
  store: ChangeRecords,
  file: string,
  change: (record: ServerRecord | undefined) => ServerRecord,
): Promise<void> {
  try {
    await store.updateFile(file, async (record) => change(record));
  } catch (cause) {
    throw new SwitchboardError('CONFIG_NOT_CHANGED', 'Could not record what you accepted.', {
      hint: String(cause),
      cause,
    });
  }
}

/** The cached list lacks the tools that were held, so it has to be fetched again. */
async function forgetLists(config: Config, file: string): Promise<void> {
  const child = [...config.children.values()].find((one) => fileFor(one) === file);
  if (!child) return;
  const catalog = openCatalog(config, () => {}); // the next start fetches the list anyway
  if (catalog.get(child).changes) catalog.forgetLists(child);
  await catalog.written();
}

function isKnown({ items, passed }: ServerRecord, tool: string): boolean {
  const keys = [...items.keys()].map(nameInKey);
  return keys.includes(tool) || passed.some(({ name }) => name === tool);
}

function unknownItem(
  server: string,
  tool: string,
  records: readonly ServerRecord[],
): SwitchboardError {
  const names = records.flatMap(({ items }) => [...items.keys()].map(nameInKey));
  return new SwitchboardError(
    'SUBTOOL_UNKNOWN',
    `Server "${server}" has never listed a tool or prompt named "${tool}".`,
    { hint: didYouMean(tool, names) || `See: switchboard changes ${server}` },
  );
}

function rowsOf({ name: server, origin, items, passed }: ServerRecord): ChangeRow[] {
  const waiting = [...items].flatMap(([key, item]): ChangeRow[] => {
    const row = waitingRow(item);
    return row ? [{ server, origin, ...itemOfKey(key), ...row }] : [];
  });
  return [
    ...waiting,
    ...passed.map(
      (change): ChangeRow => ({
        server,
        origin,
        ...change,
        status: 'passed',
        findings: [],
      }),
    ),
  ];
}

function waitingRow({
  accepted,
  held,
  grown,
}: ItemRecord): Omit<ChangeRow, 'server' | 'origin' | 'kind' | 'name'> | undefined {
  if (held) {
    const { at, findings, hints, rights } = held;
    const isShown = held.text && (!accepted || accepted.text);
    return {
      status: 'held',
      what: accepted ? 'changed' : 'added',
      at,
      difference: isShown ? compareWords(accepted?.text, held.text) : { before: [], after: [] },
      hints:
        accepted && accepted.rights !== rights
          ? { before: accepted.hints, after: hints }
          : undefined,
      findings,
    };
  }
  if (!grown || !accepted) return undefined;
  return {
    status: 'rights',
    what: 'changed',
    at: grown.at,
    difference: { before: [], after: [] },
    hints: { before: accepted.hints, after: grown.hints },
    findings: [],
  };
}

const SIGNS = {
  held: { text: 'held', style: 'red' },
  rights: { text: 'annotations held', style: 'yellow' },
  passed: { text: 'passed', style: 'green' },
} as const;

function printRow(row: ChangeRow, output: Output): void {
  const { server, status, what, at, difference, hints, findings } = row;
  const cells = [
    { text: printable(server), style: 'bold' as const },
    { text: nameChange(row) },
    SIGNS[status],
    { text: `${what} ${at.slice(0, 10)}`, style: 'dim' as const },
  ];
  for (const line of formatRows([{ cells }], output)) output.line(line);
  const below = (text: string, style?: 'red' | 'green' | 'yellow'): void => {
    for (const line of indentText({ text, style }, { ...output, indent: '    ' }))
      output.line(line);
  };
  for (const { severity, where, detail } of findings) {
    const place = where === '' ? '' : ` (${printable(where)})`;
    below(`${printable(detail)}${place}`, severity === 'hard' ? 'red' : 'yellow');
  }
  for (const [path, text] of difference.before) below(`- ${showWord(path, text)}`, 'red');
  for (const [path, text] of difference.after) below(`+ ${showWord(path, text)}`, 'green');
  if (hints) {
    below(`- ${JSON.stringify(hints.before)}`, 'red');
    below(`+ ${JSON.stringify(hints.after)}`, 'green');
  }
}

function showWord(path: string, text: string): string {
  return path === '' ? printable(text) : `${printable(path)}: ${printable(text)}`;
}

function nameChange({ kind, name }: Pick<ChangeRow, 'kind' | 'name'>): string {
  return kind === 'instructions' ? kind : `${kind} ${printable(name)}`;
}

function printSummary(rows: readonly ChangeRow[], output: Output): void {
  const waiting = rows.filter(({ status }) => status !== 'passed').length;
  output.line();
  output.line(
    waiting > 0
      ? `${count(waiting, 'change')} held. To accept: switchboard changes accept [server] [tool]`
      : 'Nothing is held. To clear this list: switchboard changes accept',
  );
}
