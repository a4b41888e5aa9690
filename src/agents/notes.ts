// What the caller of a run has to know and the agent may not say itself: an action that was refused, a
// server that was missing.
import { excerpt } from '../base/text.ts';
import type { EngineResult } from './engine.ts';

export interface RunResult extends EngineResult {
  readonly notes?: readonly string[];
}

const MOST_NOTES = 20;
const LONGEST_NOTE = 500;

export class Notes {
  readonly #notes = new Set<string>();
  #left = 0;

  /** Whether it is new, and there is room for it. */
  add(text: string): boolean {
    const note = excerpt(text, LONGEST_NOTE);
    if (this.#notes.has(note)) return false;
    const hasRoom = this.#notes.size < MOST_NOTES;
    if (hasRoom) this.#notes.add(note);
    else this.#left++;
    return hasRoom;
  }

  get list(): string[] {
    return [...this.#notes, ...(this.#left === 0 ? [] : [`… and ${this.#left} more.`])];
  }
}

/** A result as hosts get it: `ok` and `output`, and nothing else. Notes follow the output. */
export function withNotes({ ok, output, notes = [] }: RunResult): EngineResult {
  if (notes.length === 0) return { ok, output };
  const lines = ['Notes from Switchboard:', ...notes.map((note) => `- ${note}`)];
  return { ok, output: [output.trimEnd(), lines.join('\n')].filter(Boolean).join('\n\n') };
}
