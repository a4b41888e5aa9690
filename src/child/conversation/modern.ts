// Talking to a child of the modern era. Every request says for whom it is made; a child that wants to
// know more answers so, and is asked again with the answers.
import { Cancellation } from '../../base/cancellation.ts';
import { isObject } from '../../base/object.ts';
import { type Place, Underway } from '../../base/underway.ts';
import { VERSION } from '../../base/version.ts';
import type { Caller, QuestionMethod } from '../../mcp/caller.ts';
import { ENVELOPE_KEYS, META, MODERN_REVISION } from '../../mcp/eras.ts';
import { isWanted } from '../../mcp/logging.ts';
import {
  forwardedCapabilities,
  questionMethod,
  signQuestionsIn,
  Unanswered,
} from '../../mcp/questions.ts';
import { isInputRequired } from '../../mcp/results.ts';
import type { Roots } from '../../mcp/roots.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import type { IncomingRequest, Peer, RequestOptions } from '../../rpc/peer.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { LinkEnded } from '../link.ts';
import type { ChildRequest, Conversation, Inputs } from './conversation.ts';
import { addMember } from './handshake.ts';

/** A child that asks again and again is not asked any more. */
const MOST_ROUNDS = 10;
/** A subscription has no limit in time; this is the longest a timer can be set. */
const FOR_EVER_MS = 2 ** 31 - 1;
const LISTEN_AGAIN_MS = 5_000;

export const OWN_INFO = Verbatim.of({ name: 'switchboard', version: VERSION });

export interface ModernOptions {
  /** The child's name, for those who are asked. */
  readonly name: string;
  readonly peer: Peer;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly roots: Roots;
}

export class ModernConversation implements Conversation {
  readonly era = 'modern';
  readonly #options: ModernOptions;
  /** The callers whose requests the server is working on. */
  readonly #callers = new Underway<Caller>();
  #listening: Cancellation | undefined;
  #lastAbout: (Pick<Caller, 'capabilities' | 'info' | 'logLevel'> & { text: string }) | undefined;

  constructor(options: ModernOptions) {
    this.#options = options;
  }

  request(request: ChildRequest): Promise<Verbatim> {
    const answered = this.#send(request, request.inputs);
    if (request.caller?.era !== 'modern') return this.#converse(request, answered);
    // A modern caller is told what the child wants to know, and asks again himself.
    return this.#options.roots.isShared ? this.#relay(request, answered) : answered;
  }

  answer({ method }: IncomingRequest): Verbatim {
    throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }

  hear(method: string, params: Verbatim): boolean {
    if (method !== 'notifications/message') return false;
    const callers = this.#callers.all();
    const last = callers.at(-1);
    const isClear = last && callers.every(({ party }) => party === last.party);
    if (isClear && isWanted(params, last.logLevel)) last.log(params);
    return true;
  }

  setLogLevel(): void {
    // said anew with each request
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    const { capabilities } = this.#options;
    const wanted = {
      ...(changes(capabilities, 'tools') && { toolsListChanged: true }),
      ...(changes(capabilities, 'prompts') && { promptsListChanged: true }),
      ...(changes(capabilities, 'resources') && { resourcesListChanged: true }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
    this.#listening?.cancel(new Error('Another subscription takes its place.'));
    this.#listening = undefined;
    if (Object.keys(wanted).length === 0) return;
    const cancellation = new Cancellation();
    this.#listening = cancellation;
    const meta = Verbatim.fromText(`{${this.#about(undefined)}}`);
    void this.#listen(Verbatim.of({ notifications: wanted }).set('_meta', meta), cancellation);
  }

  /** Stays subscribed: where the subscription ends before the child does, it is made again. */
  async #listen(params: Verbatim, cancellation: Cancellation): Promise<void> {
    const options = { timeoutMs: FOR_EVER_MS, cancellation, mirrored: params };
    while (!cancellation.reason) {
      try {
        await this.#options.peer.request('subscriptions/listen', params, options);
      } catch (error) {
        // It cannot do this, or is gone: then it is listed again when it is started again.
        if (error instanceof RpcError || error instanceof LinkEnded) return;
      }
      await new Promise((resolve) => setTimeout(resolve, LISTEN_AGAIN_MS).unref());
    }
  }

  /** Asks the caller what the child wants to know, and the child again, until it has what it needs. */
  async #converse(request: ChildRequest, first: Promise<Verbatim>): Promise<Verbatim> {
    let result = await first;
    for (let round = 1; isInputRequired(result.value); round++) {
      const { name, roots } = this.#options;
      const inputs = await answerQuestions(signQuestionsIn(result, name), request, roots);
      if (round === MOST_ROUNDS) {
        const message = `The server has asked ${MOST_ROUNDS} times and still asks.`;
        throw new RpcError(INTERNAL_ERROR, message);
      }
      result = await this.#send(request, inputs);
    }
    return result;
  }

  /** Answers requests for roots. If something else is asked with them, the caller answers all, for this call only. */
  async #relay(request: ChildRequest, first: Promise<Verbatim>): Promise<Verbatim> {
    let result = await first;
    for (let round = 1; round < MOST_ROUNDS && asksOnlyForRoots(result.value); round++) {
      const inputs = await answerQuestions(result, request, this.#options.roots);
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

  /** The parameters with the envelope, and with what else this round of the request has to say. */
  #filled(
    { params, caller, meta }: ChildRequest,
    inputs: Inputs | undefined,
    token: number | undefined,
  ): Verbatim {
    const own = meta?.without(...ENVELOPE_KEYS, 'progressToken').text ?? '{}';
    const marked = token === undefined ? own : addMember(own, `"progressToken":${token}`);
    const envelope = addMember(marked, this.#about(caller));
    let filled = addMember(params.text, `"_meta":${envelope}`);
    if (inputs?.responses) filled = addMember(filled, `"inputResponses":${inputs.responses.text}`);
    if (inputs?.state !== undefined)
      filled = addMember(filled, `"requestState":${JSON.stringify(inputs.state)}`);
    return Verbatim.fromText(filled);
  }

  /** What a request says of the one it is made for, who mostly is the same as the time before. */
  #about(caller: Caller | undefined): string {
    const { capabilities, info, logLevel } = caller ?? OURSELVES;
    const last = this.#lastAbout;
    const isSame =
      last?.capabilities === capabilities && last.info === info && last.logLevel === logLevel;
    if (isSame) return last.text;
    const answersRoots = this.#options.roots.isShared && caller?.era === 'handshake';
    const known = answersRoots ? { roots: {}, ...capabilities } : capabilities;
    const text = describe(known, info, logLevel);
    this.#lastAbout = { capabilities, info, logLevel, text };
    return text;
  }
}

/** A request as the peer sees it. A class, since one is made for every call. */
class ModernCall implements RequestOptions {
  readonly timeoutMs: number;
  readonly cancellation: RequestOptions['cancellation'];
  readonly onProgress: RequestOptions['onProgress'];
  readonly mirrored: Verbatim;
  readonly #caller: Caller | undefined;
  readonly #callers: Underway<Caller>;
  #place: Place<Caller> | undefined;

  constructor(request: ChildRequest, callers: Underway<Caller>) {
    this.timeoutMs = request.timeoutMs;
    this.cancellation = request.cancellation;
    this.onProgress = request.onProgress;
    this.mirrored = request.params;
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

/** The one for whom we make requests of our own. */
const OURSELVES = { capabilities: {}, info: OWN_INFO, logLevel: undefined };

/** Somebody as members of an envelope. */
function describe(
  capabilities: Caller['capabilities'],
  info: Caller['info'] = OWN_INFO,
  logLevel: Caller['logLevel'],
): string {
  const said = [
    `"${META.version}":"${MODERN_REVISION}"`,
    `"${META.capabilities}":${JSON.stringify(forwardedCapabilities(capabilities))}`,
    `"${META.client}":${info.text}`,
  ];
  if (logLevel) said.push(`"${META.logLevel}":"${logLevel}"`);
  return said.join(',');
}

function asksOnlyForRoots(value: unknown): boolean {
  if (!isInputRequired(value)) return false;
  const { inputRequests } = value as { inputRequests?: unknown };
  const questions = isObject(inputRequests) ? Object.values(inputRequests) : [];
  const isRoots = (question: unknown): boolean =>
    isObject(question) && question['method'] === 'roots/list';
  return questions.length > 0 && questions.every(isRoots);
}

async function answerQuestions(
  result: Verbatim,
  { caller, cancellation = new Cancellation() }: ChildRequest,
  roots: Roots,
): Promise<Inputs> {
  if (!caller) throw new RpcError(INTERNAL_ERROR, 'The server wants to know what nobody can tell.');
  const requests = result.member('inputRequests');
  const keys = isObject(requests?.value) ? Object.keys(requests.value) : [];
  const answers = await Promise.all(
    keys.map(async (key) => {
      const question = requests?.member(key);
      const method = questionMethod(String((question?.value as { method?: unknown })?.method));
      if (!question || !method) {
        throw new RpcError(INTERNAL_ERROR, `The server asks something unknown: ${key}.`);
      }
      const isProject = method === 'roots/list' && roots.isShared;
      const answer = isProject
        ? roots.project
        : await ask(caller, method, question.member('params'), cancellation);
      return `${JSON.stringify(key)}:${answer.text}`;
    }),
  );
  const state = (result.value as { requestState?: unknown }).requestState;
  return {
    responses: keys.length > 0 ? Verbatim.fromText(`{${answers.join(',')}}`) : undefined,
    state: typeof state === 'string' ? state : undefined,
  };
}

/** A form that the host refuses is one that was cancelled; other refusals, and silence, end the request. */
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
