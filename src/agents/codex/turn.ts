// What comes of a turn, gathered from what the engine tells while it goes on: the agent's last message,
// and how it ended. What is kept has a bound, also where the engine's own messages have none.
import { isObject } from '../../base/object.ts';
import type { OversizeEvent } from '../../rpc/framing.ts';
import { type FileChange, readChanges } from './changes.ts';
import { textOf } from './events.ts';

export interface TurnEnd {
  readonly status: 'completed' | 'interrupted' | 'failed';
  /** Why, where it failed: the engine's own words. */
  readonly reason: string;
}

/** So many changes that wait for approval are remembered, to say which files they are about. */
const KEPT_CHANGES = 50;

export class Turn {
  readonly ended: Promise<TurnEnd>;
  readonly #keptChars: number;
  #threadId: string | undefined;
  #turnId: string | undefined;
  #resolve: (end: TurnEnd) => void = () => {};
  #output = '';
  /** What has come of the message that is being said. */
  #unfinished = '';
  readonly #changes = new Map<string, readonly FileChange[] | undefined>();

  /** `keptChars` bounds a message of which only the pieces can be read. */
  constructor(keptChars: number) {
    this.#keptChars = keptChars;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The last message that the agent has said to its end. */
  get output(): string {
    return this.#output;
  }

  /** Which files an item is about to change; undefined where that is not known. */
  changesOf(itemId: string): readonly FileChange[] | undefined {
    return this.#changes.get(itemId);
  }

  /** From now on, news of another thread is none of this turn's. */
  belongTo(threadId: string): void {
    this.#threadId = threadId;
  }

  /** As the engine has called it. Its first news may come before. */
  begin(turnId: string): void {
    this.#turnId = turnId;
  }

  /** Whether something is about this turn, or about none in particular. */
  isAbout(params: unknown): boolean {
    if (!isObject(params)) return true;
    const { threadId, turn } = params;
    const turnId = isObject(turn) ? turn['id'] : params['turnId'];
    return isOurs(threadId, this.#threadId) && isOurs(turnId, this.#turnId);
  }

  hear(method: string, params: unknown): void {
    if (!isObject(params) || !this.isAbout(params)) return;
    const { item } = params;
    if (method === 'turn/started' && isObject(params['turn'])) {
      this.#turnId ??= textOf(params['turn']['id']) || undefined;
    }
    if (method === 'item/agentMessage/delta') this.#addPiece(textOf(params['delta']));
    else if (method === 'turn/completed') this.#end(params['turn']);
    else if (isObject(item)) this.#hearItem(method, item);
  }

  /** A message was too large to be read. What it is stands at its beginning, how it ends at its end. */
  hearOversize({ head, tail, complete }: OversizeEvent): void {
    if (!complete || !this.isAbout({ threadId: threadIn(head) ?? threadIn(tail ?? '') })) return;
    if (head.includes('"method":"item/completed"') && head.includes('"type":"agentMessage"')) {
      const kept = this.#unfinished;
      this.#output = `${kept}\n[cut: of a message that is too long, these are the first ${kept.length} characters]`;
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
      if (method === 'item/completed') this.#output = textOf(item['text']);
      else if (method === 'item/started') this.#unfinished = '';
    } else if (type === 'fileChange' && method === 'item/started') {
      if (this.#changes.size < KEPT_CHANGES)
        this.#changes.set(textOf(id), readChanges(item['changes']));
    } else if (type === 'fileChange' && method === 'item/completed') {
      this.#changes.delete(textOf(id));
    }
  }

  #end(turn: unknown): void {
    if (this.#threadId === undefined) return; // it has not even begun
    const { status, error } = isObject(turn) ? turn : {};
    const reason = isObject(error) ? textOf(error['message']) : '';
    if (status === 'completed' || status === 'interrupted') this.#resolve({ status, reason });
    else this.#resolve({ status: 'failed', reason });
  }
}

/** What is not said, or not known yet, may be ours. */
function isOurs(id: unknown, ours: string | undefined): boolean {
  return typeof id !== 'string' || ours === undefined || id === ours;
}

/** In texts quotation marks are escaped, so that this is found only where it is the message's own. */
function threadIn(json: string): string | undefined {
  return /"threadId":"([^"]*)"/.exec(json)?.[1];
}
