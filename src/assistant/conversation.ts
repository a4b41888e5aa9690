// What was said before, for each of those who ask, so that a follow-up is understood. It is kept until
// nobody has asked for a while, and never more of it than a bound.
import { cut } from './cut.ts';
import type { Message } from './provider.ts';

/** One query with all that came of it, up to the answer. */
export type Turn = readonly Message[];

export interface Conversation {
  readonly turns: readonly Turn[];
  /** The name under which a provider keeps it itself. */
  readonly session: string | undefined;
}

const NOTHING: Conversation = { turns: [], session: undefined };
const MOST_TURNS = 20;
const MOST_CHARS = 100_000;
/** So much is left of a query, and of an answer, where the whole does not fit. */
const LONGEST_IN_BRIEF = 20_000;

export class Conversations {
  readonly #idleMs: number;
  /** By the party that asks: it goes when its connection does. */
  readonly #kept = new WeakMap<object, Kept>();

  /** 0 for remembering nothing. */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  of(party: object | undefined): Conversation {
    return (party && this.#kept.get(party)?.conversation) ?? NOTHING;
  }

  /** A query was answered. Of several at once each is added when it is done. */
  add(party: object | undefined, turn: Turn, session?: string): void {
    if (!party || this.#idleMs === 0) return;
    const before = this.#kept.get(party);
    clearTimeout(before?.timer);
    const turns = bounded([...(before?.conversation.turns ?? []), turn]);
    const timer = setTimeout(() => this.#kept.delete(party), this.#idleMs).unref();
    this.#kept.set(party, { conversation: { turns, session }, timer });
  }

  forget(party: object | undefined): void {
    if (!party) return;
    clearTimeout(this.#kept.get(party)?.timer);
    this.#kept.delete(party);
  }
}

interface Kept {
  readonly conversation: Conversation;
  readonly timer: NodeJS.Timeout;
}

/** The last turns that fit; of those that do not, what was asked and what was answered. */
function bounded(turns: readonly Turn[]): Turn[] {
  const fitting: Turn[] = [];
  let room = MOST_CHARS;
  for (const turn of turns.slice(-MOST_TURNS).toReversed()) {
    const kept = [turn, inBrief(turn)].find((form) => sizeOf(form) <= room);
    if (!kept) break;
    room -= sizeOf(kept);
    fitting.unshift(kept);
  }
  return fitting;
}

function sizeOf(turn: Turn): number {
  return JSON.stringify(turn).length;
}

/** A turn without the way to its answer: the uses of tools go with their results, or not at all. */
function inBrief(turn: Turn): Turn {
  const first = turn[0];
  const last = turn.findLast(({ role }) => role === 'assistant' || role === 'said');
  if (first?.role !== 'user') return [];
  const asked = { role: 'user', text: cut(first.text, LONGEST_IN_BRIEF) } as const;
  const answer = last?.role === 'assistant' ? last.answer.text : last?.role === 'said' && last.text;
  return [asked, { role: 'said', text: cut(answer || '(no answer)', LONGEST_IN_BRIEF) }];
}
