// Finds the reason for a crash in a program's stderr: the line that explains it, without the stack trace and log
// lines around it.

/** A line that starts like this is the reason, whatever else is printed. */
const ERROR =
  /^(?:[\w.]*(?:Error|Exception)|error|fatal|fatal (?:runtime )?error|panic)\b[^:]*: \S/i;
const PANIC = /\bpanicked at /;
/** Older Rust put the message on the same line. */
const OLD_PANIC = /panicked at '(.+)', \S+:\d+:\d+$/;
const CAUSE = /^Caused by:/;
/** Unlike stack frames and source lines, these aren't indented. */
const NOISE =
  /^(?:stack backtrace:|note: |Traceback |Node\.js v\d|Require stack:|- \/|node:internal|file:\/\/|\/\S+:\d+$|\^+$|[{}\])])/;
/** 2026-11-15T18:43:30.493901Z ERROR codex_core: …, or a warning: logged before the crash. */
const LOGGED = /^(?:\d{4}-\d\d-\d\dT\S+\s+[A-Z]+\s|warning\b)/i;

/** Empty if no line is a reason. */
export function crashReason(lines: readonly string[]): string {
  let error = '';
  let other = '';
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1] ?? '';
    const text = line.trim();
    if (CAUSE.test(before) && error !== '') error = `${error}: ${text.replace(/^\d+: /, '')}`;
    else if (PANIC.test(before) && !OLD_PANIC.test(before)) error = text;
    else if (PANIC.test(line)) error = OLD_PANIC.exec(line)?.[1] ?? text;
    else if (ERROR.test(line)) error = text;
    else if (isPlain(line)) other = text;
  }
  return error || other;
}

function isPlain(line: string): boolean {
  return !/^\s/.test(line) && ![NOISE, LOGGED, CAUSE].some((noise) => noise.test(line));
}
