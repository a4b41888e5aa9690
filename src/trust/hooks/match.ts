// Which servers a hook may run for, judging by their names only.
import type { HookSettings } from '../../config/config.ts';
import { foldName, matchesPattern } from '../../config/server/expose.ts';

/** The patterns of a hook, ready to be compared with folded names. */
export function hookPatterns(tools: readonly string[]): string[] {
  return tools.map((pattern) => foldName(pattern.replace(/^mcp__/i, '')));
}

/** The key of the first hook that may run for a tool of the server; undefined if none does. */
export function hookFor(hooks: HookSettings | undefined, server: string): string | undefined {
  if (!hooks) return undefined;
  const name = foldName(server);
  for (const event of ['beforeCall', 'afterCall'] as const) {
    const index = hooks[event].findIndex(({ tools }) =>
      hookPatterns(tools).some((pattern) => mayMatch(pattern, name)),
    );
    if (index !== -1) return `hooks.${event}[${index}]`;
  }
  return undefined;
}

/** Whether the pattern matches the server, or some tool of it. */
function mayMatch(pattern: string, name: string): boolean {
  if (matchesPattern(name, pattern)) return true;
  const prefix = `${name}__`;
  const starts = Array.from({ length: pattern.length }, (_, end) => pattern.slice(0, end + 1));
  return starts.some((start) => matchesPattern(prefix, start));
}
