// What a new background process needs to continue a session: messages of the host that it replays, and the servers
// that are switched on. The entry keeps it without looking at it.
import { isObject } from '../base/object.ts';
import type { Framing, MessageEvent } from '../rpc/framing.ts';
import type { Id } from '../rpc/message.ts';

interface Kept {
  readonly framing: Framing;
  readonly messages: readonly string[];
  readonly active: readonly string[];
}

/** Our own requests get these ids when they are replayed. */
const REPLAYED = 'switchboard-replayed-';

/** Whether a response belongs to a replayed request, which the host has already got one for. */
export function isReplayed(about: Id | undefined): boolean {
  return typeof about === 'string' && about.startsWith(REPLAYED);
}

export class SessionSnapshot {
  #framing: Framing = 'newline';
  readonly #messages = new Map<string, string>();
  #active: readonly string[] = [];
  #sent = '';
  /** Asked after everything the host sends, and nearly always false. */
  #mayHaveChanged = false;

  /** Remembers a message of the host if it changes the session's state. */
  note({ text, value, framing }: MessageEvent): void {
    if (framing !== this.#framing) this.#mayHaveChanged = true;
    this.#framing = framing;
    if (!isObject(value) || typeof value['method'] !== 'string') return;
    const key = keyFor(value['method'], value['params']);
    if (key === undefined) return;
    const [kind, subject] = key;
    this.#mayHaveChanged = true;
    // The last one counts, and comes last.
    this.#messages.delete(subject);
    if (kind === 'kept') this.#messages.set(subject, text);
  }

  setActive(names: readonly string[]): void {
    this.#active = names;
    this.#mayHaveChanged = true;
  }

  /** Undefined if nothing has changed since the last time. */
  takeChanged(): string | undefined {
    if (!this.#mayHaveChanged) return undefined;
    if (this.#messages.size === 0 && this.#framing === 'newline') return undefined;
    this.#mayHaveChanged = false;
    const kept: Kept = {
      framing: this.#framing,
      messages: [...this.#messages.values()],
      active: this.#active,
    };
    const text = JSON.stringify(kept);
    if (text === this.#sent) return undefined;
    this.#sent = text;
    return text;
  }
}

/** The subject of a message of which only the last one counts. */
function keyFor(method: string, params: unknown): ['kept' | 'dropped', string] | undefined {
  const { uri } = isObject(params) ? params : {};
  switch (method) {
    case 'initialize':
    case 'notifications/initialized':
    case 'logging/setLevel':
      return ['kept', method];
    case 'resources/subscribe':
      return typeof uri === 'string' ? ['kept', `resource ${uri}`] : undefined;
    case 'resources/unsubscribe':
      return typeof uri === 'string' ? ['dropped', `resource ${uri}`] : undefined;
    default:
      return undefined;
  }
}

/** Restores a session from a snapshot. */
export class Replay {
  /** To be passed to the new session, in order. */
  readonly messages: readonly MessageEvent[];
  /** Resolves when all servers are switched on again, or every message has its response. */
  readonly done: Promise<void>;
  #resolve: () => void = () => {};
  readonly #wanted: readonly string[];
  #open: number;

  constructor(snapshot: string | undefined) {
    const kept = snapshot === undefined ? NOTHING : (JSON.parse(snapshot) as Kept);
    this.#wanted = kept.active;
    this.messages = messagesIn(kept);
    this.#open = this.messages.filter(({ value }) => isObject(value) && 'id' in value).length;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  noteActive(names: readonly string[]): void {
    if (this.#wanted.every((name) => names.includes(name))) this.#resolve();
  }

  noteAnswered(): void {
    this.#open--;
    if (this.#open === 0) this.#resolve();
  }
}

const NOTHING: Kept = { framing: 'newline', messages: [], active: [] };

function messagesIn({ framing, messages, active }: Kept): MessageEvent[] {
  const values = [
    ...messages.map((text) => JSON.parse(text) as Record<string, unknown>),
    ...active.map((name) => ({
      jsonrpc: '2.0',
      id: 0,
      method: 'tools/call',
      params: { name: 'gateway_activate', arguments: { name } },
    })),
  ];
  return values.map((value, index) => {
    const replayed = 'id' in value ? { ...value, id: `${REPLAYED}${index}` } : value;
    return { text: JSON.stringify(replayed), value: replayed, framing };
  });
}
