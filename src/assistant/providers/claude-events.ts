// Parses the output of `claude`, one JSON object per line: its servers, its tool calls with their results, and
// finally its answer. Any other output is kept in case no answer arrives.
import { isObject } from '../../base/object.ts';

export interface ClaudeListener {
  /** Reports a server's state before the model gets the query. */
  readonly onServer: (name: string, state: string) => void;
  /** Called when a tool call starts. The returned function is called once, with the outcome. */
  readonly onUse: (tool: string) => (isOk: boolean) => void;
  /** Called when all results have arrived and go back to the model. */
  readonly onResults: () => void;
}

type Json = Readonly<Record<string, unknown>>;

/** Longer lines contain nothing we need. */
const LONGEST_LINE = 16 << 20;
const KEPT_WORDS = 2_000;

export class ClaudeEvents {
  readonly #listener: ClaudeListener;
  /** Pending tool calls, by id. */
  readonly #uses = new Map<string, (isOk: boolean) => void>();
  #line = '';
  #isTooLong = false;
  #words = '';
  #answer: Json | undefined;

  constructor(listener: ClaudeListener) {
    this.#listener = listener;
  }

  /** The final result. */
  get answer(): Json | undefined {
    return this.#answer;
  }

  /** The end of its other output. */
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
    return undefined; // plain output, its own or of a program it started
  }
}
