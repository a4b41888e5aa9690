// What a server may ask of a host, and whether a host can be asked it.
import { isObject } from '../base/object.ts';
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from '../rpc/message.ts';
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
