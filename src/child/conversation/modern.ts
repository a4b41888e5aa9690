// Talking to a child of the modern era. Every request says for whom it is made; a child that wants to
// know more answers so, and is asked again with the answers.

import { Cancellation } from '../../base/cancellation.ts';
import { Underway } from '../../base/underway.ts';
import { VERSION } from '../../base/version.ts';
import type { Caller, QuestionMethod } from '../../mcp/caller.ts';
import { ENVELOPE_KEYS, META, MODERN_REVISION } from '../../mcp/eras.ts';
import { isWanted } from '../../mcp/logging.ts';
import { forwardedCapabilities, questionMethod } from '../../mcp/questions.ts';
import { isInputRequired } from '../../mcp/results.ts';
import { INTERNAL_ERROR, isObject, METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import type { IncomingRequest, Peer } from '../../rpc/peer.ts';
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
  readonly peer: Peer;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

export class ModernConversation implements Conversation {
  readonly era = 'modern';
  readonly #options: ModernOptions;
  readonly #callers = new Underway<Caller>();
  #listening: Cancellation | undefined;

  constructor(options: ModernOptions) {
    this.#options = options;
  }

  async request(request: ChildRequest): Promise<Verbatim> {
    const { caller } = request;
    const place = caller && this.#callers.add(caller);
    try {
      return await this.#converse(request, caller);
    } finally {
      if (place) this.#callers.remove(place);
    }
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
    const meta = envelope(undefined, undefined);
    void this.#listen(Verbatim.of({ notifications: wanted }).set('_meta', meta), cancellation);
  }

  /** Stays subscribed: where the subscription ends before the child does, it is made again. */
  async #listen(params: Verbatim, cancellation: Cancellation): Promise<void> {
    const options = { timeoutMs: FOR_EVER_MS, cancellation };
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

  async #converse(request: ChildRequest, caller: Caller | undefined): Promise<Verbatim> {
    let { inputs } = request;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const result = await this.#send(request, caller, inputs);
      if (!isInputRequired(result.value)) return result;
      if (caller?.era === 'modern') return result;
      inputs = await answerQuestions(result, caller, request);
    }
    throw new RpcError(INTERNAL_ERROR, `The server has asked ${MOST_ROUNDS} times and still asks.`);
  }

  #send(
    { method, params, meta, timeoutMs, cancellation, onProgress }: ChildRequest,
    caller: Caller | undefined,
    inputs: Inputs | undefined,
  ): Promise<Verbatim> {
    const text = (id: number): Verbatim => {
      const token = onProgress && id;
      let filled = addMember(params.text, `"_meta":${envelope(caller, meta, token).text}`);
      if (inputs?.responses)
        filled = addMember(filled, `"inputResponses":${inputs.responses.text}`);
      if (inputs?.state !== undefined)
        filled = addMember(filled, `"requestState":${JSON.stringify(inputs.state)}`);
      return new Verbatim(filled, undefined);
    };
    return this.#options.peer.request(method, text, { timeoutMs, cancellation, onProgress });
  }
}

/** The host's `_meta` with what this request has to say of itself. */
function envelope(
  caller: Caller | undefined,
  meta: Verbatim | undefined,
  progressToken?: number,
): Verbatim {
  const capabilities = JSON.stringify(forwardedCapabilities(caller?.capabilities ?? {}));
  const level = caller?.logLevel;
  // Put together as text: it is written with every call, and nobody here reads it again.
  const said = [
    `"${META.version}":"${MODERN_REVISION}"`,
    `"${META.capabilities}":${capabilities}`,
    `"${META.client}":${(caller?.info ?? OWN_INFO).text}`,
  ];
  if (level) said.push(`"${META.logLevel}":"${level}"`);
  if (progressToken !== undefined) said.push(`"progressToken":${progressToken}`);
  const own = meta?.without(...ENVELOPE_KEYS, 'progressToken');
  const mine = new Verbatim(`{${said.join(',')}}`, {});
  return own ? own.prepend(mine) : mine;
}

async function answerQuestions(
  result: Verbatim,
  caller: Caller | undefined,
  { cancellation = new Cancellation() }: ChildRequest,
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
      const answer = await ask(caller, method, question.member('params'), cancellation);
      return `${JSON.stringify(key)}:${answer.text}`;
    }),
  );
  const state = (result.value as { requestState?: unknown }).requestState;
  return {
    responses: keys.length > 0 ? new Verbatim(`{${answers.join(',')}}`, undefined) : undefined,
    state: typeof state === 'string' ? state : undefined,
  };
}

/** A form that nobody fills in is one that was cancelled; other refusals end the request. */
async function ask(
  caller: Caller,
  method: QuestionMethod,
  params: Verbatim | undefined,
  cancellation: Cancellation,
): Promise<Verbatim> {
  try {
    return await caller.ask({ method, params, cancellation });
  } catch (error) {
    if (method !== 'elicitation/create' || !(error instanceof RpcError)) throw error;
    return Verbatim.of({ action: 'cancel' });
  }
}

function changes(capabilities: Readonly<Record<string, unknown>>, kind: string): boolean {
  const capability = capabilities[kind];
  return isObject(capability) && capability['listChanged'] === true;
}
