// The questions a server may ask a host, and which hosts can answer them.
import { isObject } from '../base/object.ts';
import { onOneLine } from '../base/text.ts';
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { QuestionMethod } from './caller.ts';
import { TASKS_EXTENSION } from './tasks.ts';

const QUESTIONS: readonly QuestionMethod[] = [
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
];

export function questionMethod(method: string): QuestionMethod | undefined {
  return QUESTIONS.find((question) => question === method);
}

/** The capabilities we declare to servers: everything we can forward to a host that supports it. */
export const CHILD_FACING_CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};

/** Whether a host with these capabilities supports the question. */
export function canAnswer(
  capabilities: Readonly<Record<string, unknown>>,
  method: QuestionMethod,
  params: unknown,
): boolean {
  switch (method) {
    case 'roots/list':
      return isObject(capabilities['roots']);
    case 'sampling/createMessage':
      return isObject(capabilities['sampling']);
    case 'elicitation/create': {
      const elicitation = capabilities['elicitation'];
      if (!isObject(elicitation)) return false;
      const mode = isObject(params) ? params['mode'] : undefined;
      // Without any mode, only forms are supported.
      if (mode === 'url') return isObject(elicitation['url']);
      return isObject(elicitation['form']) || elicitation['url'] === undefined;
    }
  }
}

/** The capability a host must declare to be asked this. */
export function requiredFor(method: QuestionMethod, params: unknown): Record<string, unknown> {
  if (method === 'roots/list') return { roots: {} };
  if (method === 'sampling/createMessage') return { sampling: {} };
  const mode = isObject(params) && params['mode'] === 'url' ? 'url' : 'form';
  return { elicitation: { [mode]: {} } };
}

/** Refuses a question the caller doesn't support. */
export function cannotAnswer(method: QuestionMethod): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `This host does not support ${method}.`);
}

/** Refuses a question outside any call. */
export function unasked(): RpcError {
  return new RpcError(
    INVALID_REQUEST,
    'No call is in progress: Switchboard forwards questions only during a call.',
  );
}

/**
 * Adds the server's name to a question that a user or a model will read. A nested Switchboard may have
 * done that already.
 */
export function signQuestion(
  method: string,
  params: Verbatim | undefined,
  server: string,
): Verbatim | undefined {
  const name = onOneLine(server);
  switch (method) {
    case 'elicitation/create':
      return begin(params, 'message', `Server "${name}" asks: `);
    case 'sampling/createMessage':
      return begin(params, 'systemPrompt', `This request comes from the MCP server "${name}".\n\n`);
    default:
      return params;
  }
}

function begin(params: Verbatim | undefined, key: string, words: string): Verbatim {
  const object = params && isObject(params.value) ? params : Verbatim.of({});
  const said = object.member(key)?.value;
  const text = typeof said === 'string' ? said : '';
  if (text.startsWith(words)) return object;
  return object.set(key, Verbatim.of((words + text).trimEnd()));
}

/** A modern server's result with its questions signed. */
export function signQuestionsIn(result: Verbatim, server: string): Verbatim {
  const requests = result.member('inputRequests');
  if (!isObject(requests?.value)) return result;
  const parts = Object.entries(requests.value).map(([key, value]) => {
    const question = requests.member(key);
    const method = isObject(value) ? String(value['method']) : '';
    const params = signQuestion(method, question?.member('params'), server);
    const signed = params ? question?.set('params', params) : question;
    return `${JSON.stringify(key)}:${signed?.text}`;
  });
  return result.with('inputRequests', Verbatim.fromText(`{${parts.join(',')}}`));
}

/** Error data that sends the user to web pages, with each page signed. */
export function signElicitationsIn(data: Verbatim, server: string): Verbatim {
  const elicitations = data.member('elicitations');
  if (!Array.isArray(elicitations?.value)) return data;
  const signed = elicitations
    .elements()
    .map((params) => signQuestion('elicitation/create', params, server)?.text);
  return data.with('elicitations', Verbatim.fromText(`[${signed.join(',')}]`));
}

/** The user did not answer within the time limit, which is not a refusal. */
export class Unanswered extends RpcError {
  constructor() {
    super(INTERNAL_ERROR, 'The question was not answered in time.');
  }
}

/** The part of a host's capabilities that we can forward to a server. */
export function forwardedCapabilities(
  capabilities: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { roots, sampling, elicitation, extensions } = capabilities;
  const tasks = isObject(extensions) ? extensions[TASKS_EXTENSION] : undefined;
  return {
    ...(isObject(roots) && { roots }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(tasks) && { extensions: { [TASKS_EXTENSION]: tasks } }),
  };
}
