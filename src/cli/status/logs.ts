// `switchboard logs [server] [-f]`: what a server has printed on stderr, or the background process's own log.
import { readFileSync } from 'node:fs';
import { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { logFileOf, logPlaces, olderLog } from '../../base/log-file.ts';
import { codeOf } from '../../base/system-error.ts';
import { cleanText } from '../../base/text.ts';
import { maskTokens } from '../../base/tokens.ts';
import { findFolders } from '../../config/files/places.ts';
import { type CommandOptions, chosenChild, loadFor } from '../commands/with-switchboard.ts';
import { onEndSignal } from '../signals.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import { followFile } from './follow.ts';

export interface LogsOptions extends CommandOptions {
  readonly follow?: boolean | undefined;
  /** How many of the last lines are shown. */
  readonly lines?: string | undefined;
}

const USUAL_LINES = 100;

export async function showLogs(server: string | undefined, options: LogsOptions): Promise<number> {
  const output = createOutput(options);
  const wanted = parseCount(options.lines);
  if (options.follow && output.isJson) {
    throw new SwitchboardError('USAGE', '--follow and --json cannot be combined.', {
      hint: 'Leave out --follow to get the last lines as JSON.',
    });
  }
  const { home } = findFolders({ cwd: workingFolder(), env: process.env });
  const { servers, background } = logPlaces(home);
  const file = server === undefined ? background : logFileOf(servers, server);
  const current = readLog(file);
  const older = current && countLines(current) < wanted ? readLog(olderLog(file)) : undefined;
  if (!current && server !== undefined) chosenChild(await loadFor(options), server); // throws if there's none
  const text = Buffer.concat([older, current].filter((part) => part !== undefined)).toString();
  const lines = lastLines(text, wanted);
  output.json({ server, file, lines: lines.map(tidy) });
  if (!current && !output.isJson) explainMissing(server, file, options.follow === true);
  for (const line of lines) output.line(tidy(line));
  if (options.follow) await follow(file, current?.length ?? 0, output);
  return 0;
}

function parseCount(text: string | undefined): number {
  if (text === undefined) return USUAL_LINES;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SwitchboardError('USAGE', `"${text}" is not a number of lines.`, {
    hint: 'For example: switchboard logs --lines 20',
  });
}

/** Undefined if there is none. */
function readLog(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SwitchboardError('LOG_UNREADABLE', `The log can't be read: ${reason}`, {
      hint: `Check the permissions of ${file}.`,
    });
  }
}

function countLines(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines++;
  return lines;
}

function lastLines(text: string, wanted: number): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return wanted === 0 ? [] : lines.slice(-wanted);
}

/** A crash is written without being masked or cleaned. */
function tidy(line: string): string {
  return cleanText(maskTokens(line));
}

function explainMissing(server: string | undefined, file: string, isFollowing: boolean): void {
  const reason =
    server === undefined
      ? 'No background process has run yet.'
      : 'Switchboard keeps a server\'s output if the server runs in the background process, or with "stderr": "log".';
  const wait = isFollowing ? ' Waiting for it (Ctrl-C to stop).' : '';
  process.stderr.write(`There is no log yet: ${cleanText(file)}\n${reason}${wait}\n`);
}

async function follow(file: string, position: number, output: Output): Promise<void> {
  const end = new Cancellation();
  onEndSignal(() => end.cancel(new Error('Ctrl-C')), 0);
  let open = '';
  await followFile(file, position, end, (text) => {
    const lines = (open + text).split('\n');
    open = lines.pop() ?? '';
    for (const line of lines) output.line(tidy(line));
  });
}
