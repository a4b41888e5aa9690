// `switchboard tools [server] [tool]` and `--dry-run`: lists the current tools of every server with their
// signatures, or shows one tool with its schema.
import type { ListedTool } from '../../background/command-servers.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { cleanText, escapeHidden, formatDuration, printable } from '../../base/text.ts';
import { unknownSubtool } from '../../calls/tool-call.ts';
import type { ChildConfig, Config } from '../../config/config.ts';
import { signatureOf } from '../../mcp/signature.ts';
import type { Tool } from '../../mcp/tools.ts';
import { summarise } from '../../surface/summary.ts';
import { noServers } from '../commands/no-servers.ts';
import { offServers, printOff } from '../commands/off.ts';
import {
  type CommandContext,
  type CommandOptions,
  chosenChildren,
  withSwitchboard,
} from '../commands/with-switchboard.ts';
import { wrapText } from '../terminal/columns.ts';
import { describeFailure, type Failure } from '../terminal/failure.ts';
import { formatRows, indentText } from '../terminal/layout.ts';
import { count, createOutput, type Output } from '../terminal/output.ts';
import { downloadNote, Progress } from '../terminal/progress.ts';
import { findTarget } from './target.ts';

interface Listing {
  readonly name: string;
  readonly ms: number;
  readonly tools: readonly Summary[];
  readonly error: Failure | undefined;
}

interface Summary {
  readonly name: string;
  readonly signature: string;
  readonly summary: string;
  readonly allowed: boolean;
}

export async function listTools(
  words: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const outcome = await withSwitchboard({ ...options, joinsAs: 'tools' }, async (context) => {
    const { server, subtool } = readWords(context.config, words);
    using progress = new Progress(output);
    const children = chosenChildren(context.config, server);
    const [first] = children;
    if (subtool !== undefined && first) {
      const found = findTool(context, first, subtool);
      return await progress.during(first.name, found, downloadNote(first));
    }
    const listed = children.map((child) =>
      progress.during(child.name, listChild(child, context), downloadNote(child)),
    );
    return { listings: await Promise.all(listed), off: offServers(context.config, server) };
  });
  output.json('listings' in outcome ? { children: outcome.listings, off: outcome.off } : outcome);
  if (!('listings' in outcome)) {
    printTool(outcome, output);
    return 0;
  }
  const { listings, off } = outcome;
  if (listings.length + off.length === 0) output.line(noServers());
  for (const listing of listings) printListing(listing, output);
  printOff(off, output);
  return listings.some(({ error }) => error) ? 3 : 0;
}

function readWords(
  config: Config,
  words: readonly string[],
): { server?: string | undefined; subtool?: string | undefined } {
  const [server, subtool, ...more] = words;
  if (server === undefined) return {};
  if (subtool === undefined && config.children.has(server)) return { server };
  const target = findTarget(config, words);
  if (more.length + target.rest.length === 0) {
    return { server: target.child.name, subtool: target.subtool };
  }
  throw new SwitchboardError('USAGE', 'Too many arguments: name one server and one of its tools.', {
    hint: 'See: switchboard tools --help',
  });
}

async function listChild(config: ChildConfig, context: CommandContext): Promise<Listing> {
  const begin = performance.now();
  const { name } = config;
  try {
    const tools = await fetchTools(config, context);
    const described = tools.map((tool) => summaryOf(tool, config));
    return { name, ms: Math.round(performance.now() - begin), tools: described, error: undefined };
  } catch (error) {
    const ms = Math.round(performance.now() - begin);
    return { name, ms, tools: [], error: describeFailure(error) };
  }
}

function fetchTools(
  config: ChildConfig,
  { servers, cancellation }: CommandContext,
): Promise<readonly ListedTool[]> {
  return servers.listTools(config, { cancellation });
}

function summaryOf({ tool, isUsable }: ListedTool, config: ChildConfig): Summary {
  const { introspection } = config;
  return {
    name: tool.name,
    signature: signatureOf(tool),
    summary: summarise(
      cleanText(descriptionOf(tool).slice(0, 4_000)),
      introspection.summaryMaxChars,
    ),
    allowed: isUsable,
  };
}

/** One tool in full. */
interface FoundTool {
  readonly child: string;
  readonly name: string;
  readonly signature: string;
  readonly allowed: boolean;
  readonly tool: Tool;
}

async function findTool(
  context: CommandContext,
  config: ChildConfig,
  subtool: string,
): Promise<FoundTool> {
  const tools = await fetchTools(config, context);
  const found = tools.find(({ tool }) => tool.name === subtool);
  if (!found) {
    const names = tools.map(({ tool }) => tool.name);
    throw unknownSubtool(config, subtool, names);
  }
  const { tool } = found;
  const { signature, allowed } = summaryOf(found, config);
  return { child: config.name, name: tool.name, signature, allowed, tool };
}

function printListing({ name, ms, tools, error }: Listing, output: Output): void {
  const about = error
    ? `failed after ${formatDuration(ms)}`
    : `${count(tools.length, 'tool')}, ${formatDuration(ms)}`;
  const heading = [
    { text: printable(name), style: 'bold' as const },
    { text: about, style: error && ('red' as const) },
  ];
  for (const line of formatRows([{ cells: heading }], output)) output.line(line);
  if (error) {
    printIndented(error.message, output);
    if (error.hint !== undefined) printIndented(error.hint, output);
  }
  for (const tool of tools) printSummary(tool, output);
  output.line();
}

function printSummary({ signature, summary, allowed }: Summary, output: Output): void {
  printSignature(signature, output);
  const note = allowed ? '' : '(not allowed) ';
  const [first, ...more] = wrapText(`${note}${summary}`, output.width - 4);
  if (first === '' || first === undefined) return;
  const marked = `${output.style('yellow', note.trim())}${note && ' '}`;
  output.line(`    ${marked}${output.style('dim', first.slice(note.length))}`);
  for (const line of more) output.line(`    ${output.style('dim', line)}`);
}

/** The name in bold; continuation lines are indented. */
function printSignature(signature: string, output: Output): void {
  const end = signature.indexOf('(', signature.startsWith('"') ? signature.indexOf('"', 1) : 0);
  const [first = '', ...more] = wrapText(signature, output.width - 6);
  const name = first.slice(0, end);
  output.line(`  ${output.style('bold', name)}${first.slice(name.length)}`);
  for (const line of more) output.line(`      ${line}`);
}

function printTool({ child, signature, allowed, tool }: FoundTool, output: Output): void {
  const note = allowed ? '' : `  ${output.style('yellow', '(not allowed)')}`;
  output.line(`${output.style('bold', `${child}.${tool.name}`)}${note}`);
  printSignature(signature, output);
  const description = cleanText(descriptionOf(tool)).trim();
  if (description !== '') {
    output.line();
    printIndented(description, output);
  }
  for (const [title, key] of SCHEMAS) {
    if (tool[key] === undefined) continue;
    output.line();
    output.line(`  ${output.style('dim', title)}`);
    const text = escapeHidden(JSON.stringify(tool[key], null, 2));
    for (const line of text.split('\n')) output.line(`  ${line}`);
  }
}

const SCHEMAS = [
  ['Input schema', 'inputSchema'],
  ['Output schema', 'outputSchema'],
  ['Annotations', 'annotations'],
] as const;

function printIndented(text: string, output: Output): void {
  const lines = indentText({ text: cleanText(text) }, { ...output, indent: '  ' });
  for (const line of lines) output.line(line);
}

function descriptionOf(tool: Tool): string {
  return typeof tool['description'] === 'string' ? tool['description'] : '';
}
