// The engine asks before it does what its policy does not allow by itself. Nobody sits at its terminal:
// so the host's user is asked where he can be, and otherwise it is told no. It is never left waiting.
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import type { AgentSettings } from '../../config/config.ts';
import type { Caller } from '../../mcp/caller.ts';
import { canAnswer } from '../../mcp/questions.ts';
import { METHOD_NOT_FOUND, RpcError } from '../../rpc/message.ts';
import type { IncomingRequest } from '../../rpc/peer.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import type { EngineEvent } from '../engine.ts';
import { commandOf, textOf } from './events.ts';

export interface ApprovalOptions {
  readonly agentName: string;
  readonly cwd: string;
  readonly approvals: AgentSettings['approvals'];
  readonly caller: Caller | undefined;
  /** Which files an item of the turn is about to change, in words. */
  readonly changesOf: (itemId: string) => string;
  readonly onEvent: (event: EngineEvent) => void;
  readonly mask: Mask;
}

/** What the engine wants to be allowed, and what it is answered. */
interface Wish {
  readonly what: string;
  readonly yes: object;
  readonly no: object;
}

const LONGEST = 1_000;
const NO_ANSWER = { action: 'decline', content: null, _meta: null };
const REJECTION = 'The user has not allowed it.';

/** Answers a request of the engine's, whatever it is. */
export async function answerEngine(
  request: IncomingRequest,
  options: ApprovalOptions,
): Promise<Verbatim> {
  const params = isObject(request.params?.value) ? request.params.value : {};
  if (request.method === 'mcpServer/elicitation/request') {
    return passQuestionOn(params, request, options);
  }
  if (request.method === 'item/tool/requestUserInput') return Verbatim.of({ answers: {} });
  const wish = readWish(request.method, params, options);
  if (!wish) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
  const isAllowed = await askUser(wish.what, textOf(params['reason']), request, options);
  const verdict = isAllowed ? 'allowed' : 'not allowed';
  const text = excerpt(`${verdict}: ${wish.what}`, 300, options.mask);
  options.onEvent({ kind: isAllowed ? 'step' : 'warning', text });
  return Verbatim.of(isAllowed ? wish.yes : wish.no);
}

function readWish(
  method: string,
  params: Record<string, unknown>,
  { changesOf, cwd }: ApprovalOptions,
): Wish | undefined {
  const decision = { yes: { decision: 'accept' }, no: { decision: 'decline' } };
  const older = {
    yes: { decision: 'approved' },
    no: { decision: { denied: { rejection: REJECTION } } },
  };
  const folder = textOf(params['cwd']) || cwd;
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return { what: `run ${commandOf(params)} in ${folder}`, ...decision };
    case 'item/fileChange/requestApproval': {
      const files = changesOf(textOf(params['itemId']));
      const root = textOf(params['grantRoot']);
      return { what: `change ${files} in ${root || folder}`, ...decision };
    }
    case 'item/permissions/requestApproval':
      return {
        what: `have more permissions in ${folder}: ${JSON.stringify(params['permissions'])}`,
        yes: { permissions: withoutNulls(params['permissions']), scope: 'turn' },
        no: { permissions: {}, scope: 'turn' },
      };
    case 'execCommandApproval': {
      const { command } = params;
      const words = Array.isArray(command) ? command.join(' ') : '';
      return { what: `run ${words} in ${folder}`, ...older };
    }
    case 'applyPatchApproval': {
      const files = isObject(params['fileChanges']) ? Object.keys(params['fileChanges']) : [];
      return { what: `change ${files.join(', ')} in ${folder}`, ...older };
    }
    default:
      return undefined;
  }
}

/** What is granted names only what is granted. */
function withoutNulls(permissions: unknown): Record<string, unknown> {
  const wanted = isObject(permissions) ? Object.entries(permissions) : [];
  return Object.fromEntries(wanted.filter(([, value]) => value !== null));
}

async function askUser(
  what: string,
  reason: string,
  { cancellation }: IncomingRequest,
  { agentName, approvals, caller, mask }: ApprovalOptions,
): Promise<boolean> {
  const because = reason === '' ? '' : ` Its reason: ${reason}`;
  const params = {
    message: excerpt(`The agent "${agentName}" wants to ${what}.${because}`, LONGEST, mask),
    requestedSchema: {
      type: 'object',
      properties: { allow: { type: 'boolean', title: 'Allow it', default: false } },
      required: ['allow'],
    },
  };
  if (!caller || approvals !== 'ask') return false;
  if (!canAnswer(caller.capabilities, 'elicitation/create', params)) return false;
  const question = { method: 'elicitation/create', params: Verbatim.of(params) } as const;
  try {
    const { value } = await caller.ask({ ...question, cancellation });
    if (!isObject(value) || value['action'] !== 'accept') return false;
    return isObject(value['content']) && value['content']['allow'] === true;
  } catch {
    return false; // he cannot be asked after all, or does not answer: that is no approval
  }
}

/** A server of the agent's asks its user something: the host is shown it as it is. */
async function passQuestionOn(
  params: Record<string, unknown>,
  { cancellation }: IncomingRequest,
  { approvals, caller }: ApprovalOptions,
): Promise<Verbatim> {
  const { mode, message, requestedSchema, url, elicitationId } = params;
  const question =
    mode === 'url' ? { mode, message, url, elicitationId } : { message, requestedSchema };
  const isKnown = mode === 'form' || mode === 'url';
  const canBeAsked = caller && canAnswer(caller.capabilities, 'elicitation/create', question);
  if (!isKnown || !canBeAsked || approvals !== 'ask') return Verbatim.of(NO_ANSWER);
  try {
    const answer = await caller.ask({
      method: 'elicitation/create',
      params: Verbatim.of(question),
      cancellation,
    });
    const { action, content = null } = isObject(answer.value) ? answer.value : {};
    return Verbatim.of(typeof action === 'string' ? { action, content, _meta: null } : NO_ANSWER);
  } catch {
    return Verbatim.of(NO_ANSWER); // as above
  }
}
