// Accepts what is held: the held version becomes the accepted one. Changes that passed are marked as seen.

import { type ItemRecord, itemOfKey, type ServerRecord } from './record.ts';
import { sha256Of } from './words.ts';

export interface Acceptance {
  readonly record: ServerRecord;
  /** The keys of the items that were held, or whose annotations were. */
  readonly accepted: readonly string[];
}

/** `name`: only this tool or prompt, or `instructions`; undefined for everything. */
export function acceptChanges(record: ServerRecord, name: string | undefined): Acceptance {
  const isMeant = (key: string): boolean => name === undefined || nameInKey(key) === name;
  const accepted: string[] = [];
  const items = [...record.items].map(([key, item]) => {
    if (!isMeant(key) || (!item.held && !item.grown)) return [key, item] as const;
    accepted.push(key);
    return [key, acceptItem(item)] as const;
  });
  const passed = record.passed.filter(
    (change) => name !== undefined && (change.name || change.kind) !== name,
  );
  return { record: { ...record, items: new Map(items), passed }, accepted };
}

function acceptItem({ accepted, held, grown, seen }: ItemRecord): ItemRecord {
  if (held) {
    const { because: _because, at: _at, ...version } = held;
    const earlier = accepted ? [accepted.words, ...seen] : seen;
    return { accepted: version, seen: earlier };
  }
  const hints = grown?.hints ?? accepted?.hints ?? {};
  return { accepted: accepted && { ...accepted, hints, rights: sha256Of(hints) }, seen };
}

/** As the user writes it. */
export function nameInKey(key: string): string {
  const { kind, name } = itemOfKey(key);
  return kind === 'instructions' ? kind : name;
}
