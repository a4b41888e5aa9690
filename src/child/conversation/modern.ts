// Talks to a server in the modern era. Every request carries its caller's identity; a server that has questions returns
// them, and gets the request again with the answers.
import { Cancellation } from '../../base/cancellation.ts';
import { isObject } from '../../base/object.ts';
import { Underway, type UnderwayPlace } from '../../base/underway.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import type { Caller, QuestionMethod } from '../../mcp/caller.ts';
import { ENVELOPE_KEYS, META, MODERN_REVISION } from '../../mcp/eras.ts';
import { isWanted } from '../../mcp/logging.ts';
import { CLIENT_INFO } from '../../mcp/own-info.ts';
import {
  forwardedCapabilities,
  questionMethod,
  signQuestionsIn,
  Unanswered,
} from '../../mcp/questions.ts';
import { isInputRequired } from '../../mcp/results.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import type { IncomingRequest, Peer } from '../../rpc/peer.ts';
import type { RequestOptions } from '../../rpc/requests.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { LinkEnded } from '../link.ts';
import type { ChildRequest, Conversation, Inputs } from './conversation.ts';
import { addMember } from './handshake.ts';

/** A server that keeps asking is given up after this many rounds. */
const MOST_ROUNDS = 10;
const LISTEN_AGAIN_MS = 5_000;

export interface ModernConversationOptions {
  /** The server's name, for its questions. */
  readonly name: string;
  readonly peer: Peer;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export class ModernConversation implements Conversation {
  readonly #options: ModernConversationOptions;
  /** The callers with requests in flight. */
  readonly #callers = new Underway<Caller>();
  #listening: Cancellation | undefined;
  #lastEnvelope:
    | (Pick<Caller, 'capabilities' | 'info' | 'logLevel'> & { text: string })
    | undefined;

  constructor(options: ModernConversationOptions) {
    this.#options = options;
  }

  request(request: ChildRequest): Promise<Verbatim> {
    const answered = this.#send(request, request.inputs);
    // A modern caller gets the questions and repeats the request itself. Its roots are for this call only.
    return request.caller?.era === 'modern' ? answered : this.#converse(request, answered);
  }

  answer({ method }: IncomingRequest): Verbatim {
    throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }

  receive(method: string, params: Verbatim): boolean {
    if (method !== 'notifications/message') return false;
    const callers = this.#callers.all();
    const last = callers.at(-1);
    const isClear = last && callers.every(({ party }) => party === last.party);
    if (isClear && isWanted(params, last.logLevel)) last.log(params);
    return true;
  }

  setLogLevel(): void {
    // part of every request
  }

  notify(): void {
    // a modern server gets none of a host's notifications
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    const { capabilities } = this.#options;
    const wanted = {
      ...(changes(capabilities, 'tools') && { toolsListChanged: true }),
      ...(changes(capabilities, 'prompts') && { promptsListChanged: true }),
      ...(changes(capabilities, 'resources') && { resourcesListChanged: true }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
    this.#listening?.cancel(new Error('Replaced by another subscription.'));
    this.#listening = undefined;
    if (Object.keys(wanted).length === 0) return;
    const cancellation = new Cancellation();
    this.#listening = cancellation;
    const meta = Verbatim.fromText(`{${this.#envelopeFor(undefined)}}`);
    void this.#listen(Verbatim.of({ notifications: wanted }).set('_meta', meta), cancellation);
  }

  /** Stays subscribed: if the subscription ends before the server does, it subscribes again. */
  async #listen(params: Verbatim, cancellation: Cancellation): Promise<void> {
    // Subscriptions have no time limit.
    const options = { timeoutMs: LONGEST_MS, cancellation, mirrored: params };
    while (!cancellation.reason) {
      try {
        await this.#options.peer.request('subscriptions/listen', params, options);
      } catch (error) {
        // It doesn't support this, or is gone; then it's listed again after its next start.
        if (error instanceof RpcError || error instanceof LinkEnded) return;
      }
      await new Promise((resolve) => setTimeout(resolve, LISTEN_AGAIN_MS).unref());
    }
  }

  /** Asks the caller the server's questions and repeats the request, until there are none. */
  async #converse(request: ChildRequest, first: Promise<Verbatim>): Promise<Verbatim> {
    let result = await first;
    for (let round = 1; isInputRequired(result.value); round++) {
      const { name } = this.#options;
      const inputs = await answerQuestions(signQuestionsIn(result, name), request);
      if (round === MOST_ROUNDS) {
        const message = `The server asked for input ${MOST_ROUNDS} times, which is the limit.`;
        throw new RpcError(INTERNAL_ERROR, message);
      }
      result = await this.#send(request, inputs);
    }
    return result;
  }

  #send(request: ChildRequest, inputs: Inputs | undefined): Promise<Verbatim> {
    const params = request.onProgress
      ? (id: number): Verbatim => this.#filled(request, inputs, id)
      : this.#filled(request, inputs, undefined);
    return this.#options.peer.request(
      request.method,
      params,
      new ModernCall(request, this.#callers),
    );
  }

  /** The parameters with the envelope and this round's inputs. */
  #filled(
    { params, caller, meta, roots }: ChildRequest,
    inputs: Inputs | undefined,
    token: number | undefined,
  ): Verbatim {
    const own = meta?.without(...ENVELOPE_KEYS, 'progressToken').text ?? '{}';
    const marked = token === undefined ? own : addMember(own, `"progressToken":${token}`);
    const envelope = addMember(marked, this.#envelopeFor(caller, roots));
    let filled = addMember(params.text, `"_meta":${envelope}`);
    if (inputs?.responses) filled = addMember(filled, `"inputResponses":${inputs.responses.text}`);
    if (inputs?.state !== undefined)
      filled = addMember(filled, `"requestState":${JSON.stringify(inputs.state)}`);
    return Verbatim.fromText(filled);
  }

  /** The caller as envelope members. Usually it's the same caller as before. */
  #envelopeFor(caller: Caller | undefined, roots?: Verbatim): string {
    const { capabilities, info, logLevel } = caller ?? OURSELVES;
    const last = this.#lastEnvelope;
    const isSame =
      last?.capabilities === capabilities && last.info === info && last.logLevel === logLevel;
    if (isSame) return last.text;
    const answersRoots = roots !== undefined && caller?.era === 'handshake';
    const known = answersRoots ? { roots: {}, ...capabilities } : capabilities;
    const text = describe(known, info, logLevel);
    this.#lastEnvelope = { capabilities, info, logLevel, text };
    return text;
  }
}

/** A request, as the peer sees it. A class, since one is created for every call. */
class ModernCall implements RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation: RequestOptions['cancellation'];
  readonly onProgress: RequestOptions['onProgress'];
  readonly mirrored: Verbatim;
  readonly owner: object | undefined;
  readonly #caller: Caller | undefined;
  readonly #callers: Underway<Caller>;
  #place: UnderwayPlace<Caller> | undefined;

  constructor(request: ChildRequest, callers: Underway<Caller>) {
    this.timeoutMs = request.timeoutMs;
    this.cancellation = request.cancellation;
    this.onProgress = request.onProgress;
    this.mirrored = request.params;
    this.owner = request.owner;
    this.#caller = request.caller;
    this.#callers = callers;
  }

  onSend(): void {
    if (this.#caller) this.#place = this.#callers.add(this.#caller);
  }

  onSettled(): void {
    if (this.#place) this.#callers.remove(this.#place);
  }
}

/** The caller of our own requests. */
const OURSELVES = { capabilities: {}, info: CLIENT_INFO, logLevel: undefined };

/** A caller as envelope members. */
function describe(
  capabilities: Caller['capabilities'],
  info: Caller['info'] = CLIENT_INFO,
  logLevel: Caller['logLevel'],
): string {
  const members = [
    `"${META.version}":"${MODERN_REVISION}"`,
    `"${META.capabilities}":${JSON.stringify(forwardedCapabilities(capabilities))}`,
    `"${META.client}":${info.text}`,
  ];
  if (logLevel) members.push(`"${META.logLevel}":"${logLevel}"`);
  return members.join(',');
}

async function answerQuestions(
  result: Verbatim,
  { caller, roots, cancellation = new Cancellation() }: ChildRequest,
): Promise<Inputs> {
  if (!caller)
    throw new RpcError(
      INTERNAL_ERROR,
      'The server asked for input, but this client cannot provide it.',
    );
  const requests = result.member('inputRequests');
  const keys = isObject(requests?.value) ? Object.keys(requests.value) : [];
  const answers = await Promise.all(
    keys.map(async (key) => {
      const question = requests?.member(key);
      const method = questionMethod(String((question?.value as { method?: unknown })?.method));
      if (!question || !method) {
        throw new RpcError(INTERNAL_ERROR, `The server asked an unsupported question: ${key}.`);
      }
      const known = method === 'roots/list' ? roots : undefined;
      const answer = known ?? (await ask(caller, method, question.member('params'), cancellation));
      return `${JSON.stringify(key)}:${answer.text}`;
    }),
  );
  const state = (result.value as { requestState?: unknown }).requestState;
  return {
    responses: keys.length > 0 ? Verbatim.fromText(`{${answers.join(',')}}`) : undefined,
    state: typeof state === 'string' ? state : undefined,
  };
}

/** A form that the host refuses counts as cancelled. Any other refusal, or no answer, fails the request. */
async function ask(
  caller: Caller,
  method: QuestionMethod,
  params: Verbatim | undefined,
  cancellation: Cancellation,
): Promise<Verbatim> {
  try {
    return await caller.ask({ method, params, cancellation });
  } catch (error) {
    const isRefused = error instanceof RpcError && !(error instanceof Unanswered);
    if (method !== 'elicitation/create' || !isRefused) throw error;
    return Verbatim.of({ action: 'cancel' });
  }
}

function changes(capabilities: Readonly<Record<string, unknown>>, kind: string): boolean {
  const capability = capabilities[kind];
  return isObject(capability) && capability['listChanged'] === true;
}
