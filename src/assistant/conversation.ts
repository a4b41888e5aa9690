// Remembers each caller's earlier queries, so that the model understands follow-ups. Memory is limited, and cleared
// after a while without a query.
import { cut } from './cut.ts';
import type { Message } from './provider.ts';

/** One query and everything up to its answer. */
export type Exchange = readonly Message[];

export interface Dialogue {
  readonly turns: readonly Exchange[];
  /** The session id, if the provider keeps the conversation itself. */
  readonly session: string | undefined;
}

const NOTHING: Dialogue = { turns: [], session: undefined };
const MOST_TURNS = 20;
const MOST_CHARS = 100_000;
/** The maximum length of a query and an answer if the whole exchange doesn't fit. */
const LONGEST_IN_BRIEF = 20_000;

export class Conversations {
  readonly #idleMs: number;
  /** By party; ends with its connection. */
  readonly #kept = new WeakMap<object, Kept>();

  /** 0 remembers nothing. */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  of(party: object | undefined): Dialogue {
    return (party && this.#kept.get(party)?.conversation) ?? NOTHING;
  }

  /** Call this when a query is answered. */
  add(party: object | undefined, turn: Exchange, session?: string): void {
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
  readonly conversation: Dialogue;
  readonly timer: NodeJS.Timeout;
}

/** The last exchanges that fit; longer ones are reduced to the query and the answer. */
function bounded(turns: readonly Exchange[]): Exchange[] {
  const fitting: Exchange[] = [];
  let room = MOST_CHARS;
  for (const turn of turns.slice(-MOST_TURNS).toReversed()) {
    const kept = [turn, inBrief(turn)].find((form) => sizeOf(form) <= room);
    if (!kept) break;
    room -= sizeOf(kept);
    fitting.unshift(kept);
  }
  return fitting;
}

function sizeOf(turn: Exchange): number {
  return JSON.stringify(turn).length;
}

/** An exchange without its tool calls: those are only valid together with their results. */
function inBrief(turn: Exchange): Exchange {
  const first = turn[0];
  const last = turn.findLast(({ role }) => role === 'assistant' || role === 'said');
  if (first?.role !== 'user') return [];
  const asked = { role: 'user', text: cut(first.text, LONGEST_IN_BRIEF) } as const;
  const answer = last?.role === 'assistant' ? last.answer.text : last?.role === 'said' && last.text;
  return [asked, { role: 'said', text: cut(answer || '(no answer)', LONGEST_IN_BRIEF) }];
}
