// The profile for sandbox-exec, the sandbox on macOS. The last rule that matches counts, so deeper ones come later.
import type { PathRule } from './rules.ts';

export interface SeatbeltOptions {
  /** Shallow ones first. */
  readonly rules: readonly PathRule[];
  readonly network: 'on' | 'off';
}

/** Programs write to these devices. */
const DEVICES = [
  '(literal "/dev/null")',
  '(literal "/dev/zero")',
  '(literal "/dev/tty")',
  '(literal "/dev/dtracehelper")',
  '(regex #"^/dev/fd/")',
  '(regex #"^/dev/ttys")',
];

export function seatbeltProfile({ rules, network }: SeatbeltOptions): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${DEVICES.join(' ')})`,
    ...(network === 'off' ? ['(deny network*)'] : []),
    ...rules.flatMap((rule) => formatRule(rule, network)),
    '',
  ].join('\n');
}

function formatRule(rule: PathRule, network: 'on' | 'off'): string[] {
  const where = formatPath(rule);
  if (rule.access === 'hidden') {
    return [`(deny file-read* file-write* network-outbound ${where})`];
  }
  // For sockets, in case a folder above is hidden.
  const connect = network === 'on' ? ' network-outbound' : '';
  return rule.access === 'read'
    ? [`(allow file-read*${connect} ${where})`, `(deny file-write* ${where})`]
    : [`(allow file-read* file-write*${connect} ${where})`];
}

function formatPath({ path, isPrefix }: PathRule): string {
  if (!isPrefix) return `(subpath ${quote(path)})`;
  const pattern = path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `(regex #"^${pattern.replaceAll('"', String.raw`\"`)}")`;
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;
}
