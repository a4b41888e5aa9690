// Talks to a server in the handshake era. Such a server asks questions by sending requests, and doesn't say which
// call they belong to, so we infer it from the calls in flight.
import { Cancellation } from '../../base/cancellation.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { settleWithin } from '../../base/time.ts';
import { Underway, type UnderwayPlace } from '../../base/underway.ts';
import type { Caller, Question } from '../../mcp/caller.ts';
import { ENVELOPE_KEYS } from '../../mcp/eras.ts';
import type { LogLevel } from '../../mcp/logging.ts';
import { isWanted } from '../../mcp/logging.ts';
import {
  canAnswer,
  cannotAnswer,
  questionMethod,
  requiredFor,
  signQuestion,
  unasked,
} from '../../mcp/questions.ts';
import type { Roots } from '../../mcp/roots.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import type { IncomingRequest, Peer } from '../../rpc/peer.ts';
import type { RequestOptions } from '../../rpc/requests.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { ChildRequest, Conversation } from './conversation.ts';

export interface HandshakeConversationOptions {
  /** The server's name, for its questions. */
  readonly name: string;
  readonly peer: Peer;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly roots: Roots;
  /** Asks a host for its roots if the server asks while no call is in flight. */
  readonly askOutside: (question: Question) => Promise<Verbatim>;
  /** Called before a host is asked for its roots. */
  readonly onRootsAsked?: (() => Verbatim | undefined) | undefined;
  /** Called when the server asks a question during a call. */
  readonly onAsked?: (() => void) | undefined;
  /** Whether to expect questions; otherwise calls hardly wait for each other until the first one. Default: true. */
  readonly expectsQuestions?: boolean | undefined;
}

/** Pages a user has been asked to visit. The server may still report on them. */
const MOST_PAGES = 100;
/** Hosts can read any number of URIs, so we remember a limited number of calls, and relearn others if needed. */
const MOST_QUIET = 10_000;
/** How long a call waits while another host's user hasn't answered a question. */
const OPEN_QUESTION_MS = 10_000;
const LOOK_AGAIN_MS = 1_000;
/** The same if the server isn't known to ask questions. Most servers never do. */
const UNEXPECTED_QUESTION_MS = 1_000;
/** How long a server may continue with a cancelled call, if each of its host's requests is a separate party. */
const HEEDS_CANCEL_MS = 5_000;

export class HandshakeConversation implements Conversation {
  readonly #options: HandshakeConversationOptions;
  /** The calls the server is working on. */
  readonly #calls = new Underway<Call>();
  readonly #listener: CallListener = {
    calls: this.#calls,
    onSettled: (call, isAbandoned) => this.#noteSettled(call, isAbandoned),
  };
  /** Calls that once finished without a question: they may run alongside other hosts' calls. */
  readonly #quiet = new Set<string>();
  /** Calls that have asked, or may have: they are never quiet again. */
  readonly #asking = new Set<string>();
  /** Parties whose calls were cancelled or timed out, and until when the server may still work on them. */
  readonly #abandoned = new Map<object, number>();
  readonly #pages = new Map<string, Caller>();
  #waiting: (() => void)[] = [];
  #watched = new Set<string>();

  constructor(options: HandshakeConversationOptions) {
    this.#options = options;
  }

  request(request: ChildRequest): Promise<Verbatim> {
    const { caller } = request;
    if (!caller) return this.#send(request, request);
    const target = targetOf(request);
    const call = new Call(request, caller, target, this.#listener);
    call.mayAsk = !this.#quiet.has(target);
    return call.mayAsk && this.#callAhead(caller)
      ? this.#sendInTurn(request, call)
      : this.#send(request, call);
  }

  answer(request: IncomingRequest): Verbatim | Promise<Verbatim> {
    if (request.method === 'ping') return Verbatim.of({});
    const method = questionMethod(request.method);
    if (!method) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    const { params, cancellation } = request;
    const question = { method, params, cancellation };
    return method === 'roots/list' ? this.#listRoots(question) : this.#ask(question);
  }

  receive(method: string, params: Verbatim): boolean {
    if (method === 'notifications/message') {
      const { caller } = this.#certainCall(this.#calls.all()) ?? {};
      if (caller && isWanted(params, caller.logLevel)) caller.log(params);
      return true;
    }
    if (method !== 'notifications/elicitation/complete') return false;
    const id = isObject(params.value) ? params.value['elicitationId'] : undefined;
    if (typeof id !== 'string') return true;
    this.#pages.get(id)?.pageVisited(params);
    this.#pages.delete(id);
    return true;
  }

  setLogLevel(level: LogLevel | undefined): void {
    const { peer, capabilities, timeoutMs } = this.#options;
    if (capabilities['logging'] === undefined || level === undefined) return;
    const params = Verbatim.of({ level });
    peer.request('logging/setLevel', params, { timeoutMs }).catch(() => {}); // then it keeps its own level
  }

  notify(method: string, params?: Verbatim): void {
    this.#options.peer.notify(method, params);
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    const { peer, timeoutMs } = this.#options;
    const before = this.#watched;
    const watched = (this.#watched = new Set(uris));
    const tell = (method: string, uri: string) =>
      peer.request(method, Verbatim.of({ uri }), { timeoutMs });
    const subscribe = async (uri: string): Promise<void> => {
      try {
        await tell('resources/subscribe', uri);
      } catch (error) {
        watched.delete(uri);
        throw error;
      }
    };
    const added = [...uris].filter((uri) => !before.has(uri));
    const removed = [...before].filter((uri) => !uris.has(uri));
    await Promise.all([
      ...added.map(subscribe),
      ...removed.map((uri) => tell('resources/unsubscribe', uri)),
    ]);
  }

  #send(request: ChildRequest, options: RequestOptions): Promise<Verbatim> {
    const params = request.onProgress
      ? (id: number): Verbatim => withMeta(request, id)
      : withMeta(request, undefined);
    return this.#options.peer.request(request.method, params, options);
  }

  /** A server doesn't say which host it asks, so calls that may ask wait for those of other hosts. */
  async #sendInTurn(request: ChildRequest, call: Call): Promise<Verbatim> {
    const { cancellation = new Cancellation(), timeoutMs } = request;
    const begin = performance.now();
    for (let ahead = this.#callAhead(call.caller); ahead; ahead = this.#callAhead(call.caller)) {
      const isAsking = ahead.questions > 0;
      const isLikely = isAsking || this.#expectsQuestions;
      const mostMs = isAsking ? OPEN_QUESTION_MS : isLikely ? timeoutMs : UNEXPECTED_QUESTION_MS;
      const leftMs = begin + Math.min(mostMs, timeoutMs) - performance.now();
      if (leftMs <= 0 && !isLikely) break; // a question now would be refused
      if (leftMs <= 0) throw busyError(this.#options.name, isAsking);
      const turn = new Promise<void>((resolve) => this.#waiting.push(resolve));
      await cancellation.race(settleWithin(turn, Math.min(leftMs, LOOK_AGAIN_MS)));
    }
    return this.#send(request, call);
  }

  #noteSettled({ caller, target, hasAsked }: Call, isAbandoned: boolean): void {
    if (isAbandoned) {
      // A call that asked a question learns from the answer that it is over.
      if (!hasAsked) this.#noteAbandoned(caller);
    } else if (!this.#asking.has(target)) {
      if (this.#quiet.size >= MOST_QUIET) this.#quiet.clear();
      this.#quiet.add(target);
    }
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
  }

  get #expectsQuestions(): boolean {
    return this.#asking.size > 0 || (this.#options.expectsQuestions ?? true);
  }

  /** Another host's call that this caller has to wait for. */
  #callAhead({ party }: Caller): Call | undefined {
    const ahead = this.#calls
      .all()
      .filter(({ caller, mayAsk }) => mayAsk && caller.party !== party);
    return ahead.find(({ questions }) => questions > 0) ?? ahead[0];
  }

  #noteAsking(call: Call): void {
    call.mayAsk = true;
    this.#quiet.delete(call.target);
    if (this.#asking.size === 0) this.#options.onAsked?.();
    if (this.#asking.size >= MOST_QUIET) this.#asking.clear();
    this.#asking.add(call.target);
  }

  /**
   * The call a question belongs to, if that's certain: everything the server may be working on belongs to one
   * party. A tool that has never asked before may still ask with other arguments.
   */
  #certainCall(calls: readonly Call[]): Call | undefined {
    this.#forgetAbandoned();
    const last = calls.at(-1);
    const parties = [...calls.map(({ caller }) => caller.party), ...this.#abandoned.keys()];
    return parties.every((party) => party === last?.caller.party) ? last : undefined;
  }

  #noteAbandoned({ era, party }: Caller): void {
    const { timeoutMs } = this.#options;
    const ms = era === 'modern' ? Math.min(HEEDS_CANCEL_MS, timeoutMs) : timeoutMs;
    this.#forgetAbandoned();
    this.#abandoned.set(party, performance.now() + ms);
  }

  #forgetAbandoned(): void {
    const now = performance.now();
    for (const [party, until] of this.#abandoned) if (until < now) this.#abandoned.delete(party);
  }

  async #ask({ method, params, cancellation }: Question): Promise<Verbatim> {
    const calls = this.#calls.all();
    if (calls.length === 0) return this.#askOutside({ method, params, cancellation });
    const call = this.#certainCall(calls);
    if (!call) {
      for (const one of calls) this.#noteAsking(one); // it could be any of them
      throw new RpcError(
        INTERNAL_ERROR,
        'Switchboard is serving several sessions and cannot tell which one this question is for.',
      );
    }
    this.#noteAsking(call);
    call.hasAsked = true;
    const { caller } = call;
    if (!canAnswer(caller.capabilities, method, params?.value)) {
      caller.noteMissing(requiredFor(method, params?.value));
      throw cannotAnswer(method);
    }
    this.#notePage(params?.value, caller);
    const { peer, name } = this.#options;
    const question = { method, params: signQuestion(method, params, name), cancellation };
    if (call.questions++ === 0) peer.requests.suspendLimit(call.id);
    try {
      return await answerOrRefuse(() => caller.ask(question));
    } finally {
      if (--call.questions === 0) peer.requests.restartLimit(call.id);
    }
  }

  async #listRoots(question: Question): Promise<Verbatim> {
    const { roots } = this.#options;
    if (roots.isShared) return roots.project;
    return this.#options.onRootsAsked?.() ?? this.#ask(question);
  }

  /** Only for roots. Any other question would reach a user out of the blue. */
  #askOutside(question: Question): Promise<Verbatim> {
    if (question.method !== 'roots/list') throw unasked();
    return answerOrRefuse(() => this.#options.askOutside(question));
  }

  #notePage(params: unknown, caller: Caller): void {
    const id = isObject(params) ? params['elicitationId'] : undefined;
    if (typeof id !== 'string') return;
    this.#pages.set(id, caller);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MOST_PAGES && oldest !== undefined) this.#pages.delete(oldest);
  }
}

/** Shared by all calls of a conversation. */
interface CallListener {
  readonly calls: Underway<Call>;
  readonly onSettled: (call: Call, isAbandoned: boolean) => void;
}

/** A call for a caller, as the peer sees it. A class, since one is created for every call. */
class Call implements RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation: RequestOptions['cancellation'];
  readonly onProgress: RequestOptions['onProgress'];
  readonly caller: Caller;
  readonly owner: object | undefined;
  /** A tool's name, or the method and its target. */
  readonly target: string;
  /** False once a call like it has finished without a question. */
  mayAsk = true;
  hasAsked = false;
  /** How many of the server's questions wait for the caller. */
  questions = 0;
  /** The peer's id for it, once it is sent. */
  id = 0;
  readonly #listener: CallListener;
  #place: UnderwayPlace<Call> | undefined;

  constructor(request: ChildRequest, caller: Caller, target: string, listener: CallListener) {
    this.timeoutMs = request.timeoutMs;
    this.cancellation = request.cancellation;
    this.onProgress = request.onProgress;
    this.caller = caller;
    this.owner = request.owner;
    this.target = target;
    this.#listener = listener;
  }

  onSend(id: number): void {
    this.id = id;
    this.#place = this.#listener.calls.add(this);
  }

  onSettled(isAbandoned: boolean): void {
    const { calls, onSettled } = this.#listener;
    if (this.#place) calls.remove(this.#place);
    onSettled(this, isAbandoned);
  }
}

/** The answer to a question, or an error for the server if there is none, for example because the host is gone. */
async function answerOrRefuse(ask: () => Promise<Verbatim>): Promise<Verbatim> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, String(error));
  }
}

function busyError(name: string, isAsking: boolean): SwitchboardError {
  const reason = isAsking
    ? 'is waiting for a user to answer a question from another call'
    : 'is busy with a call from another session';
  return new SwitchboardError(
    'CHILD_BUSY',
    `Server "${name}" ${reason}, so this call was not sent.`,
    { hint: 'Try again later.', data: { child: name } },
  );
}

function targetOf({ method, params }: ChildRequest): string {
  const { name, uri } = (params.value ?? {}) as { name?: string; uri?: string };
  // Tools use the plain name: building a string for every call would cost as much as the call.
  return method === 'tools/call' && name !== undefined ? name : `${method} ${name ?? uri}`;
}

/** The parameters with the server's part of the host's `_meta`, and our progress token. */
function withMeta({ params, meta }: ChildRequest, token: number | undefined): Verbatim {
  const forwarded = meta?.without(...ENVELOPE_KEYS);
  const marked =
    token === undefined
      ? forwarded?.without('progressToken')
      : (forwarded ?? Verbatim.of({})).set('progressToken', Verbatim.of(token)); // replaces the host's
  if (!marked || marked.text === '{}') return params;
  return Verbatim.fromText(addMember(params.text, `"_meta":${marked.text}`));
}

const EMPTY_OBJECT = /^\s*\{\s*\}\s*$/;

/** The text of an object with another member at the end. */
export function addMember(object: string, member: string): string {
  if (EMPTY_OBJECT.test(object)) return `{${member}}`;
  return `${object.slice(0, object.lastIndexOf('}'))},${member}}`;
}
