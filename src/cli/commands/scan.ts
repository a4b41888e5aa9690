// `switchboard scan [server]`: starts each server and scans what it lists for attacks.
import { ERRORS } from '../../base/errors.ts';
import { printable } from '../../base/text.ts';
import type { ChildConfig } from '../../config/config.ts';
import { parseTools } from '../../mcp/tools.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import { isHard, maskFinding } from '../../trust/scanner/finding.ts';
import { isSameProgram } from '../../trust/scanner/same-program.ts';
import { type FoundInItem, type RawLists, scanLists } from '../../trust/scanner/scan-lists.ts';
import { describeFailure, type Failure } from '../terminal/failure.ts';
import { formatRows, indentText } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { downloadNote, Progress } from '../terminal/progress.ts';
import { noServers } from './no-servers.ts';
import { offServers, printOff } from './off.ts';
import {
  type CommandContext,
  type CommandOptions,
  chosenChild,
  chosenChildren,
  withSwitchboard,
} from './with-switchboard.ts';

interface ScannedServer {
  readonly name: string;
  readonly tools: number;
  readonly prompts: number;
  readonly findings: readonly FoundInItem[];
  readonly error: Failure | undefined;
}

type Listed = { readonly name: string } & (
  | { readonly lists: RawLists; readonly mask: (text: string) => string }
  | { readonly error: Failure }
);

export async function scan(server: string | undefined, options: CommandOptions): Promise<number> {
  const output = createOutput(options);
  const { servers, off } = await withSwitchboard(
    { ...options, assistants: false },
    async (context) => {
      const { config } = context;
      const children = chosenChildren(config, server);
      using progress = new Progress(output);
      const listed = await Promise.all(
        children.map((child) =>
          progress.during(child.name, list(child, context), downloadNote(child)),
        ),
      );
      const scanned = listed.map((one) => scanServer(one, listed, context));
      return { servers: scanned, off: offServers(config, server) };
    },
  );
  const all = servers.flatMap(({ findings }) => findings);
  const hard = all.filter(isHard).length;
  const soft = all.length - hard;
  output.json({ servers, off, hard, soft });
  if (servers.length + off.length === 0) output.line(noServers());
  for (const one of servers) printServer(one, output);
  printOff(off, output);
  if (servers.length > 0) output.line(summaryOf(servers, hard, soft));
  if (hard > 0) return ERRORS.TOOL_HELD.exit;
  return servers.some(({ error }) => error) ? ERRORS.CHILD_START_FAILED.exit : 0;
}

async function list(
  { name }: ChildConfig,
  { switchboard, cancellation }: CommandContext,
): Promise<Listed> {
  try {
    const child = await switchboard.pool.use(name, cancellation);
    const tools = await child.listRaw('tools', { cancellation });
    const hasPrompts = child.greeting.capabilities['prompts'] !== undefined;
    const prompts = hasPrompts
      ? await child.listRaw('prompts', { cancellation }).catch(noneIfUnknown)
      : [];
    const { instructions } = child.greeting;
    const mask = (text: string): string => child.masked(text);
    return { name, lists: { tools, prompts, instructions }, mask };
  } catch (error) {
    return { name, error: describeFailure(error) };
  }
}

/** Some servers declare prompts and don't have the method. */
function noneIfUnknown(error: unknown): readonly unknown[] {
  if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return [];
  throw error;
}

/** Other servers' tools come from this scan, or from the catalog. */
function scanServer(
  listed: Listed,
  all: readonly Listed[],
  { config, switchboard }: CommandContext,
): ScannedServer {
  const { name } = listed;
  if ('error' in listed) return { name, tools: 0, prompts: 0, findings: [], error: listed.error };
  const { lists, mask } = listed;
  const fresh = new Map(all.map((one) => [one.name, 'lists' in one ? one.lists.tools : undefined]));
  const child = chosenChild(config, name);
  const others = [...config.children.values()]
    .filter((other) => other.name !== name && !isSameProgram(other, child))
    .map((other) => ({
      name: other.name,
      tools: parseTools(fresh.get(other.name) ?? switchboard.pool.tools(other.name) ?? []),
    }));
  const found = scanLists(lists, others);
  const findings = found.map((one) => maskFinding(one, mask));
  return {
    name,
    tools: parseTools(lists.tools).length,
    prompts: lists.prompts.length,
    findings,
    error: undefined,
  };
}

function printServer({ name, tools, findings, error }: ScannedServer, output: Output): void {
  const hard = findings.filter(isHard).length;
  const [sign, style] = error
    ? (['?', 'yellow'] as const)
    : hard > 0
      ? (['✗', 'red'] as const)
      : (['✓', 'green'] as const);
  const result = error ? printable(error.message) : describe(tools, hard, findings.length - hard);
  const cells = [{ text: printable(name), style: 'bold' as const }, { text: result }];
  const [first = '', ...more] = formatRows([{ cells }], { ...output, width: output.width - 2 });
  output.line(`${output.style(style, sign)} ${first}`);
  for (const line of more) output.line(`  ${line}`);
  for (const finding of findings) printFound(finding, output);
}

function printFound({ kind, name, severity, where, detail }: FoundInItem, output: Output): void {
  const item = kind === 'instructions' ? kind : `${kind} ${printable(name)}`;
  const place = where === '' ? '' : ` (${printable(where)})`;
  const text = `${severity}: ${item}: ${printable(detail)}${place}`;
  const style = severity === 'hard' ? 'red' : 'yellow';
  for (const line of indentText({ text, style }, { ...output, indent: '  ' })) output.line(line);
}

function describe(tools: number, hard: number, soft: number): string {
  const found = [
    ...(hard > 0 ? [count(hard, 'hard finding')] : []),
    ...(soft > 0 ? [count(soft, 'note')] : []),
  ];
  return `${count(tools, 'tool')}, ${found.join(', ') || 'nothing found'}`;
}

function summaryOf(servers: readonly ScannedServer[], hard: number, soft: number): string {
  const scanned = servers.filter(({ error }) => !error);
  const tools = scanned.reduce((sum, one) => sum + one.tools, 0);
  const found = `${count(hard, 'hard finding')}, ${count(soft, 'note')}`;
  return `Scanned ${count(tools, 'tool')} of ${count(scanned.length, 'server')}: ${found}.`;
}
