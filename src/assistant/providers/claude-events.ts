// What `claude` tells while it works, one JSON object on a line: which servers it has, which tools it
// uses and what came of them, and at last its answer. Anything else on its output is kept as words, for
// the case that no answer comes.
import { isObject } from '../../base/object.ts';

/** Hears of what it does. */
export interface ClaudeListener {
  /** The state of a server that it was given, before the model is asked. */
  readonly onServer: (name: string, state: string) => void;
  /** A tool is used; the returned function is told once whether it worked. */
  readonly onUse: (tool: string) => (isOk: boolean) => void;
  /** All that was asked for has come: the model is asked again. */
  readonly onResults: () => void;
}

type Json = Readonly<Record<string, unknown>>;

/** A line that is longer holds what is not needed here. */
const LONGEST_LINE = 16 << 20;
const KEPT_WORDS = 2_000;

export class ClaudeEvents {
  readonly #listener: ClaudeListener;
  /** Uses of tools that were not answered yet, by their ids. */
  readonly #uses = new Map<string, (isOk: boolean) => void>();
  #line = '';
  #isTooLong = false;
  #words = '';
  #answer: Json | undefined;

  constructor(listener: ClaudeListener) {
    this.#listener = listener;
  }

  /** The last object that says how it ended. */
  get answer(): Json | undefined {
    return this.#answer;
  }

  /** The end of what it said otherwise. */
  get words(): string {
    return this.#words;
  }

  take(text: string): void {
    const [first = '', ...more] = text.split('\n');
    this.#append(first);
    for (const piece of more) {
      this.#endLine();
      this.#append(piece);
    }
  }

  end(): void {
    this.#endLine();
  }

  #append(piece: string): void {
    this.#isTooLong ||= this.#line.length + piece.length > LONGEST_LINE;
    this.#line = this.#isTooLong ? '' : this.#line + piece;
  }

  #endLine(): void {
    const line = this.#isTooLong ? '' : this.#line.trim();
    this.#line = '';
    this.#isTooLong = false;
    if (line === '') return;
    const value = parse(line);
    if (value) this.#read(value);
    else this.#words = `${this.#words}${line}\n`.slice(-KEPT_WORDS);
  }

  #read(event: Json): void {
    const { type, subtype, message, mcp_servers: servers } = event;
    if (type === 'result') this.#answer = event;
    if (type === 'system' && subtype === 'init') {
      for (const { name, status } of objectsIn(servers)) {
        if (typeof name === 'string') this.#listener.onServer(name, String(status));
      }
    }
    if (type === 'assistant') this.#noteUses(message);
    if (type === 'user') this.#noteResults(message);
  }

  #noteUses(message: unknown): void {
    for (const { type, id, name } of blocksOf(message)) {
      if (type !== 'tool_use' || typeof id !== 'string' || typeof name !== 'string') continue;
      if (!this.#uses.has(id)) this.#uses.set(id, this.#listener.onUse(name));
    }
  }

  #noteResults(message: unknown): void {
    const before = this.#uses.size;
    for (const { type, tool_use_id: id, is_error: isError } of blocksOf(message)) {
      if (type !== 'tool_result' || typeof id !== 'string') continue;
      this.#uses.get(id)?.(isError !== true);
      this.#uses.delete(id);
    }
    if (before > 0 && this.#uses.size === 0) this.#listener.onResults();
  }
}

function blocksOf(message: unknown): Json[] {
  return isObject(message) ? objectsIn(message['content']) : [];
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function parse(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // words of its own, or of what it has started
  }
}
