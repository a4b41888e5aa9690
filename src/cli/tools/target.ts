// Finds the server and tool named on the command line: `memory search_nodes` or `memory.search_nodes`.
import type { ChildConfig, Config } from '../../config/config.ts';
import { chosenChild } from '../commands/with-switchboard.ts';

export interface Target {
  readonly child: ChildConfig;
  /** Undefined if only the server was named. */
  readonly subtool: string | undefined;
  /** The words that follow. */
  readonly rest: readonly string[];
}

/** Server names may contain dots: the longest one that matches wins. */
export function findTarget(config: Config, words: readonly string[]): Target {
  const [first = '', second] = words;
  const exact = config.children.get(first);
  const isTool = second !== undefined && !isArgument(second);
  if (exact && isTool) return { child: exact, subtool: second, rest: words.slice(2) };
  const servers = [...config.children.values()].filter(({ name }) => first.startsWith(`${name}.`));
  const [longest] = servers.sort((a, b) => b.name.length - a.name.length);
  const subtool = longest && first.slice(longest.name.length + 1);
  if (longest && subtool) return { child: longest, subtool, rest: words.slice(1) };
  const [server = ''] = isTool ? [first] : first.split('.');
  return { child: exact ?? chosenChild(config, server), subtool: undefined, rest: words.slice(1) };
}

/** Whether a word is a tool argument (`key=value`, JSON or `-`), not a tool's name. */
export function isArgument(word: string): boolean {
  return word === '-' || /^[{["]|=/.test(word);
}
