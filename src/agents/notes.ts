// Notes for a run's caller that the agent might not mention: a refused action, a missing server.
import { excerpt } from '../base/text.ts';
import type { EngineResult } from './engine.ts';

export interface RunResult extends EngineResult {
  readonly notes?: readonly string[];
}

const MOST_NOTES = 20;
const LONGEST_NOTE = 500;

export class Notes {
  readonly #notes = new Set<string>();
  #dropped = 0;

  /** Returns whether the note is new and was kept. */
  add(text: string): boolean {
    const note = excerpt(text, LONGEST_NOTE);
    if (this.#notes.has(note)) return false;
    const hasRoom = this.#notes.size < MOST_NOTES;
    if (hasRoom) this.#notes.add(note);
    else this.#dropped++;
    return hasRoom;
  }

  get list(): string[] {
    return [...this.#notes, ...(this.#dropped === 0 ? [] : [`… and ${this.#dropped} more.`])];
  }
}

/** The result in the form hosts get: only `ok` and `output`, with the notes after the output. */
export function withNotes({ ok, output, notes = [] }: RunResult): EngineResult {
  if (notes.length === 0) return { ok, output };
  const lines = ['Notes from Switchboard:', ...notes.map((note) => `- ${note}`)];
  return { ok, output: [output.trimEnd(), lines.join('\n')].filter(Boolean).join('\n\n') };
}
