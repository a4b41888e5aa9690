// Servers that are off. Commands skip them, and say so.
import { printable } from '../../base/text.ts';
import { type Config, isOff } from '../../config/config.ts';
import type { Output } from '../terminal/output.ts';

export interface Off {
  readonly name: string;
  readonly because: string;
}

/** The servers a command skips; none if a server was named. */
export function offServers({ children }: Config, chosen: string | undefined): Off[] {
  if (chosen !== undefined) return [];
  return [...children.values()].filter(isOff).map(({ name, showBecause }) => ({
    name,
    because: showBecause,
  }));
}

export function printOff(servers: readonly Off[], output: Output): void {
  for (const { name, because } of servers) {
    output.line(output.style('dim', `off: ${printable(name)} (${because})`));
  }
}
