// The results of a run as a table: a line per scenario, and the reasons below a failed one.
import type { Row } from './suite.ts';

export interface Part {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly ms: number;
}

const REASON_CHARS = 400;

/** A scenario passed if at least one check passed and none failed. */
export function isPassed({ passed, failures }: Row): boolean {
  return failures.length === 0 && passed > 0;
}

export function isScored({ notScored }: Row): boolean {
  return notScored === undefined;
}

export function formatTable({ name, rows, ms }: Part): string {
  const scored = rows.filter(isScored);
  const good = scored.filter(isPassed);
  const width = Math.max(0, ...rows.map((row) => row.name.length));
  return [
    `${name}: ${good.length} of ${scored.length} passed, ${(ms / 1000).toFixed(1)} s`,
    ...rows.flatMap((row) => formatRow(row, width)),
    '',
  ].join('\n');
}

function formatRow(row: Row, width: number): string[] {
  const { name, notScored, passed, failures, warnings } = row;
  const counts = [
    `${passed} passed`,
    ...(failures.length > 0 ? [`${failures.length} failed`] : []),
    ...(warnings.length > 0 ? [`${warnings.length} advised otherwise`] : []),
  ].join(', ');
  if (notScored !== undefined) {
    return [`  · ${name.padEnd(width)}  ${counts}, not scored: ${notScored}`];
  }
  const why = [...failures, ...warnings].map((text) => `      ${text.slice(0, REASON_CHARS)}`);
  return [`  ${isPassed(row) ? '✓' : '✗'} ${name.padEnd(width)}  ${counts}`, ...why];
}
