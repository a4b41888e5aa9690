// `switchboard tools [child]`, also `--dry-run`: the subtools of every child, as they are today.
import { cleanText, printable } from '../base/text.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/expose.ts';
import type { Tool } from '../mcp/tools.ts';
import { summarise } from '../surface/summary.ts';
import { describeFailure, type Failure } from './failure.ts';
import { noServers } from './no-servers.ts';
import { offServers, printOff } from './off.ts';
import { count, createOutput, formatMs, type Output } from './output.ts';
import { Progress } from './progress.ts';
import {
  type CommandOptions,
  chosenChildren,
  type Workplace,
  withSwitchboard,
} from './with-switchboard.ts';

interface Listing {
  readonly name: string;
  readonly ms: number;
  readonly tools: readonly { name: string; summary: string; allowed: boolean }[];
  readonly error: Failure | undefined;
}

export async function listTools(
  childName: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const { listings, off } = await withSwitchboard(options, async (workplace) => {
    using progress = new Progress();
    const children = chosenChildren(workplace.config, childName);
    const listed = children.map((child) =>
      progress.during(child.name, listChild(child, workplace)),
    );
    return { listings: await Promise.all(listed), off: offServers(workplace.config, childName) };
  });
  output.json({ children: listings, off });
  if (listings.length + off.length === 0) {
    output.line(noServers());
  }
  for (const listing of listings) printListing(listing, output);
  printOff(off, output);
  return listings.some(({ error }) => error) ? 3 : 0;
}

async function listChild(
  config: ChildConfig,
  { switchboard, cancellation }: Workplace,
): Promise<Listing> {
  const begin = performance.now();
  const { name, expose, introspection } = config;
  try {
    const child = await switchboard.pool.use(name, cancellation);
    const tools = await child.listTools({ cancellation });
    switchboard.pool.remember(config, tools);
    const described = tools.map((tool) => ({
      name: tool.name,
      summary: summarise(cleanText(descriptionOf(tool)), introspection.summaryMaxChars),
      allowed: isExposed(tool.name, expose),
    }));
    return { name, ms: Math.round(performance.now() - begin), tools: described, error: undefined };
  } catch (error) {
    const ms = Math.round(performance.now() - begin);
    return { name, ms, tools: [], error: describeFailure(error) };
  }
}

function printListing({ name, ms, tools, error }: Listing, output: Output): void {
  if (error) {
    output.line(
      `${output.style('bold', printable(name))}  ${output.style('red', 'failed')} after ${formatMs(ms)}`,
    );
    output.line(`  ${cleanText(error.message).replaceAll('\n', '\n  ')}`);
    if (error.hint !== undefined)
      output.line(`  ${cleanText(error.hint).replaceAll('\n', '\n  ')}`);
  } else {
    output.line(
      `${output.style('bold', printable(name))}  ${count(tools.length, 'tool')}, ${formatMs(ms)}`,
    );
    const width = Math.min(32, Math.max(0, ...tools.map((tool) => printable(tool.name).length)));
    for (const tool of tools) {
      const note = tool.allowed ? '' : `${output.style('yellow', '(not allowed)')} `;
      output.line(
        `  ${printable(tool.name).padEnd(width)}  ${note}${output.style('dim', tool.summary)}`,
      );
    }
  }
  output.line();
}

function descriptionOf(tool: Tool): string {
  return typeof tool['description'] === 'string' ? tool['description'].slice(0, 4_000) : '';
}
