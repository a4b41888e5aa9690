// Whether two entries start the same server, such as one for each of the user's accounts. Their tools are the same, and
// neither is a copy of the other.
import type { ChildConfig } from '../../config/config.ts';
import { programName } from '../../config/server/runners.ts';

type Launched = Pick<ChildConfig, 'command' | 'remote'>;

export function isSameProgram(one: Launched, other: Launched): boolean {
  if (one.remote && other.remote) return originOf(one.remote.url) === originOf(other.remote.url);
  if (!one.command || !other.command || one.command.cmd !== other.command.cmd) return false;
  const { args } = one.command;
  const { args: others } = other.command;
  if (JSON.stringify(args) === JSON.stringify(others)) return true;
  const operand = RUNS_OPERAND.test(programName(one.command.cmd)) ? firstOperand(args) : undefined;
  return operand !== undefined && operand === firstOperand(others);
}

/** Programs whose first operand is the package or script to run. */
const RUNS_OPERAND = /^(?:npx|pnpx|bunx|uvx|node|bun|deno|tsx|python[\d.]*)$/;

function firstOperand(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-'));
}

/** Variables aren't expanded yet, so it may not be a URL. */
function originOf(url: string): string {
  return /^[a-z][\w+.-]*:\/\/[^/?#]*/i.exec(url)?.[0].toLowerCase() ?? url;
}
