// Records the user's decisions about what was judged.
import type { JudgedSubject } from '../../config/judge.ts';
import { type AuditSink, noteApprovals } from '../audit/events.ts';
import { describeSubject } from './describe.ts';
import {
  changeTrustStore,
  type DecidedBy,
  keyOf,
  readTrustStore,
  recordOf,
  type TrustRecord,
} from './store.ts';

/** Longer descriptions aren't kept: only their hash is. */
const MOST_CHARS = 64_000;

/** `audit` gets the decisions; nothing is recorded if it's required and can't be written. */
export async function recordDecisions(
  home: string,
  judged: readonly JudgedSubject[],
  decision: TrustRecord['decision'],
  by: DecidedBy = 'user',
  audit?: AuditSink,
): Promise<void> {
  if (judged.length === 0) return;
  await audit?.admit();
  const add = new Map(
    judged.map((one) => {
      const { subject, hash } = one;
      const { rights } = subject;
      const record = { ...recordOf(subject, decision, by), lines: keptLines(one) };
      return [hash, { ...record, ...(rights && { rights }) }] as const;
    }),
  );
  const keys = new Set(judged.map(({ subject }) => keyOf(subject)));
  // Another branch may have other content, which stays approved.
  const isOutdated = (hash: string, record: TrustRecord) =>
    !add.has(hash) &&
    keys.has(keyOf(record)) &&
    (decision !== 'approved' || record.decision !== 'approved');
  await changeTrustStore(home, { add, remove: isOutdated });
  const parts = judged.map(({ subject, hash }) => ({ subject, hash, by }));
  noteApprovals(audit, parts, decision);
}

/** What the last approval was for; undefined if there was none. */
export function approvedLines(
  home: string,
  { subject }: JudgedSubject,
): readonly string[] | undefined {
  const records = [...readTrustStore(home).records.values()];
  const approved = records.filter(
    (record) => record.decision === 'approved' && keyOf(record) === keyOf(subject),
  );
  return approved.at(-1)?.lines;
}

function keptLines(judged: JudgedSubject): readonly string[] | undefined {
  const lines = describeSubject(judged);
  const size = lines.reduce((sum, line) => sum + line.length, 0);
  return size <= MOST_CHARS ? lines : undefined;
}
