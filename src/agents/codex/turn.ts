// Collects a turn's outcome from Codex's notifications: the agent's last message, and how it ended. Memory
// is bounded, even if Codex's messages aren't.
import { isObject } from '../../base/object.ts';
import type { OversizeEvent } from '../../rpc/framing.ts';
import { type FileChange, readChanges } from './changes.ts';
import { stringOf } from './events.ts';

export interface TurnEnd {
  readonly status: 'completed' | 'interrupted' | 'failed';
  /** Codex's own words, if it failed. */
  readonly reason: string;
}

/** Changes that wait for approval, kept to name their files. */
const KEPT_CHANGES = 50;

export class Turn {
  readonly ended: Promise<TurnEnd>;
  readonly #keptChars: number;
  #threadId: string | undefined;
  #turnId: string | undefined;
  #resolve: (end: TurnEnd) => void = () => {};
  #output = '';
  /** The current message so far. */
  #unfinished = '';
  readonly #changes = new Map<string, readonly FileChange[] | undefined>();

  /** `keptChars` bounds a message that is too large to be read whole. */
  constructor(keptChars: number) {
    this.#keptChars = keptChars;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The agent's last complete message. */
  get output(): string {
    return this.#output;
  }

  /** The files an item is about to change, if known. */
  changesOf(itemId: string): readonly FileChange[] | undefined {
    return this.#changes.get(itemId);
  }

  /** From now on, ignores notifications about other threads. */
  belongTo(threadId: string): void {
    this.#threadId = threadId;
  }

  /** The first notifications may arrive before this. */
  begin(turnId: string): void {
    this.#turnId = turnId;
  }

  /** Whether a notification is about this turn, or about none in particular. */
  isAbout(params: unknown): boolean {
    if (!isObject(params)) return true;
    const { threadId, turn } = params;
    const turnId = isObject(turn) ? turn['id'] : params['turnId'];
    return isOurs(threadId, this.#threadId) && isOurs(turnId, this.#turnId);
  }

  /** Takes a notification about this turn. */
  hear(method: string, params: unknown): void {
    if (!isObject(params)) return;
    const { item } = params;
    if (method === 'turn/started' && isObject(params['turn'])) {
      this.#turnId ??= stringOf(params['turn']['id']) || undefined;
    }
    if (method === 'item/agentMessage/delta') this.#addPiece(stringOf(params['delta']));
    else if (method === 'turn/completed') this.#end(params['turn']);
    else if (isObject(item)) this.#hearItem(method, item);
  }

  /** For a message too large to read whole: its start contains the kind, its end the outcome. */
  hearOversize({ head, tail, complete }: OversizeEvent): void {
    if (!complete || !this.isAbout({ threadId: threadIn(head) ?? threadIn(tail ?? '') })) return;
    if (head.includes('"method":"item/completed"') && head.includes('"type":"agentMessage"')) {
      const kept = this.#unfinished;
      this.#output = `${kept}\n[message too long; cut off after ${kept.length} characters]`;
    } else if (head.includes('"method":"turn/completed"')) {
      const status = /"status":"(completed|interrupted|failed)"(?!.*"status":)/s.exec(tail ?? '');
      this.#end({ status: status?.[1] ?? 'completed' });
    }
  }

  #addPiece(piece: string): void {
    const room = this.#keptChars - this.#unfinished.length;
    if (room > 0) this.#unfinished += piece.slice(0, room);
  }

  #hearItem(method: string, item: Record<string, unknown>): void {
    const { type, id } = item;
    if (type === 'agentMessage') {
      if (method === 'item/completed') this.#output = stringOf(item['text']);
      else if (method === 'item/started') this.#unfinished = '';
    } else if (type === 'fileChange' && method === 'item/started') {
      if (this.#changes.size < KEPT_CHANGES)
        this.#changes.set(stringOf(id), readChanges(item['changes']));
    } else if (type === 'fileChange' && method === 'item/completed') {
      this.#changes.delete(stringOf(id));
    }
  }

  #end(turn: unknown): void {
    if (this.#threadId === undefined) return; // not started yet
    const { status, error } = isObject(turn) ? turn : {};
    const reason = isObject(error) ? stringOf(error['message']) : '';
    if (status === 'completed' || status === 'interrupted') this.#resolve({ status, reason });
    else this.#resolve({ status: 'failed', reason });
  }
}

/** An id that's missing, or not known yet, may be ours. */
function isOurs(id: unknown, ours: string | undefined): boolean {
  return typeof id !== 'string' || ours === undefined || id === ours;
}

/** Strings have escaped quotes, so this matches only the message's own member. */
function threadIn(json: string): string | undefined {
  return /"threadId":"([^"]*)"/.exec(json)?.[1];
}
