// The scanner: finds attacks in what servers list by their structure. It can't understand sentences, so it doesn't find
// orders in words it doesn't know.
import type { Words } from '../changes/words.ts';
import type { Finding } from './finding.ts';
import { findHidden } from './hidden.ts';
import { findOrders } from './orders.ts';
import { findPayloads } from './payloads.ts';

/** Characters per item that are scanned: a list must not keep other servers waiting. */
const MOST_CHARS = 200_000;

/** Most strings are names and types: too short for an order, encoded or not. */
const SHORTEST = 12;

/** Scans the words of one item as the server sent them, hidden characters included. */
export function scanWords(words: Words): Finding[] {
  const bounded: (readonly [string, string])[] = [];
  let room = MOST_CHARS;
  for (const [path, text] of words) {
    if (room > 0) bounded.push([path, text.slice(0, room)]);
    room -= text.length;
  }
  const sentences = bounded.filter(([, text]) => text.length >= SHORTEST);
  return [
    ...findHidden(bounded),
    ...findPayloads(sentences),
    ...findOrders(sentences),
    ...(room < 0 ? [TOO_LONG] : []),
  ];
}

const TOO_LONG: Finding = {
  rule: 'length',
  severity: 'soft',
  where: '',
  detail: `Too long: only the first ${MOST_CHARS} characters were scanned.`,
};
