// Runs a configuration script in a process of its own, with the session's environment: in the background process, it
// would see another one, and could change it for every session.
import type { Writable } from 'node:stream';
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { runProgram } from '../base/run-program.ts';
import type { ConfigScript } from '../config/files/files.ts';
import { Refused } from './session-parts.ts';

/** The session that the script belongs to. */
export interface ScriptSurroundings {
  /** Where the host works. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly errors: Writable;
}

/** The command of the process, which reads a `ConfigScript` from stdin and prints a `ScriptReport`. */
export type ScriptCommand = readonly [cmd: string, ...args: string[]];

export type ScriptReport =
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly hint: string | undefined } }
  /** It exports something that can't be sent to another process. */
  | { readonly isUnsendable: true };

const LONGEST_MS = 60_000;

export async function runConfigScript(
  [cmd, ...args]: ScriptCommand,
  script: ConfigScript,
  { folder, environment, errors }: ScriptSurroundings,
): Promise<unknown> {
  const { file } = script;
  let output = '';
  await runProgram({
    cmd,
    args,
    cwd: folder,
    env: { ...environment },
    input: JSON.stringify(script),
    onStdout: (part) => void (output += part),
    onStderr: (part) => void errors.write(part),
    limitMs: LONGEST_MS,
  });
  const report = parseReport(output);
  if (!report) throw new Refused(`${file} didn't return a configuration.`);
  if ('value' in report) return report.value;
  if ('isUnsendable' in report) throw new Refused(`${file}: not data.`, { isExpected: true });
  const { message, hint } = report.error;
  throw new SwitchboardError('CONFIG_INVALID', message, hint === undefined ? {} : { hint });
}

function parseReport(output: string): ScriptReport | undefined {
  try {
    const report: unknown = JSON.parse(output);
    return isObject(report) ? (report as ScriptReport) : undefined;
  } catch {
    return undefined; // it exited early
  }
}

/** Whether JSON can hold the value. */
export function isPlainData(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) {
    return !['bigint', 'function', 'symbol'].includes(typeof value);
  }
  if (Array.isArray(value)) return value.every((one) => one !== undefined && isPlainData(one));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  return isPlain && Object.values(value).every(isPlainData);
}
