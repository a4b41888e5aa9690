// What a server may ask of a host, and whether a host can be asked it.
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

/** What we tell children that we can do: all that can be handed on, if the host can do it. */
export const CHILD_FACING_CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};

/** Whether a host with these capabilities can be asked this. */
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
      // Those who say nothing about modes know forms only.
      if (mode === 'url') return isObject(elicitation['url']);
      return isObject(elicitation['form']) || elicitation['url'] === undefined;
    }
  }
}

/** What a host has to say that it can do, to be asked this. */
export function requiredFor(method: QuestionMethod, params: unknown): Record<string, unknown> {
  if (method === 'roots/list') return { roots: {} };
  if (method === 'sampling/createMessage') return { sampling: {} };
  const mode = isObject(params) && params['mode'] === 'url' ? 'url' : 'form';
  return { elicitation: { [mode]: {} } };
}

/** The refusal for a child that asks what its caller cannot be asked. */
export function cannotAnswer(method: QuestionMethod): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `The host cannot be asked this: ${method}.`);
}

/** The refusal for a child that wants something of a user who has not called it. */
export function unasked(): RpcError {
  return new RpcError(
    INVALID_REQUEST,
    'Nobody is calling this server: Switchboard forwards questions only during a call.',
  );
}

/**
 * A question with the name of the server that asks it, where a user or a model will read it. A server
 * of a Switchboard behind this one may have been named there already.
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

/** A result of a modern child with its questions signed. */
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

/** The data of an error that sends the user to pages first, with each of them signed. */
export function signElicitationsIn(data: Verbatim, server: string): Verbatim {
  const elicitations = data.member('elicitations');
  if (!Array.isArray(elicitations?.value)) return data;
  const signed = elicitations
    .elements()
    .map((params) => signQuestion('elicitation/create', params, server)?.text);
  return data.with('elicitations', Verbatim.fromText(`[${signed.join(',')}]`));
}

/** A question that lay before the user until its time was over: nobody has said no either. */
export class Unanswered extends RpcError {
  constructor() {
    super(INTERNAL_ERROR, 'Nobody has answered in time.');
  }
}

/** What of a host's capabilities holds for a child: what we can hand on. */
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
