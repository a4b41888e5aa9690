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
import { describeChange, type FileChange, readChangesByPath } from './changes.ts';
import { textOf } from './events.ts';
import { commandOf } from './shell-words.ts';
import { visible } from './visible.ts';

export interface ApprovalOptions {
  readonly agentName: string;
  readonly cwd: string;
  readonly approvals: AgentSettings['approvals'];
  readonly caller: Caller | undefined;
  /** Which files an item of the turn is about to change; undefined where that is not known. */
  readonly changesOf: (itemId: string) => readonly FileChange[] | undefined;
  readonly onEvent: (event: EngineEvent) => void;
  readonly mask: Mask;
}

/** What the engine wants to be allowed, and what it is answered. */
interface Wish {
  /** What it wants to do to what is in `lines`, as the middle of a sentence. */
  readonly verb: string;
  /** Each to be shown whole; none where it is not known what is wanted. */
  readonly lines: readonly string[];
  readonly folder: string;
  readonly yes: object;
  readonly no: object;
}

/** What is longer can hardly be judged, and is shown whole by few hosts. */
const LONGEST = 4_000;
const LONGEST_REASON = 500;
const LONGEST_NAME = 100;
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
  const problem = whyNotShown(wish, options);
  const isAllowed =
    problem === undefined && (await askUser(wish, textOf(params['reason']), request, options));
  const verdict = isAllowed ? 'allowed' : `not allowed${problem ?? ''}`;
  const what = `${wish.verb} ${wish.lines.join(', ')} in ${wish.folder}`;
  const text = excerpt(`${verdict}: ${what}`, 300, options.mask);
  options.onEvent({ kind: isAllowed ? 'step' : 'warning', text });
  return Verbatim.of(isAllowed ? wish.yes : wish.no);
}

/** Nobody is asked to allow what he cannot see: why he could not, as the middle of a sentence. */
function whyNotShown(
  { lines, folder }: Wish,
  { mask, cwd }: Pick<ApprovalOptions, 'mask' | 'cwd'>,
): string | undefined {
  const shown = lines.join('\n');
  if (shown.trim() === '') return ', as it is not known what it would do';
  if (shown.length + folder.length > LONGEST) return ', as it is too long to be shown';
  // The caller has named the run's folder himself.
  const isWhole = mask(shown) === shown && (folder === cwd || mask(folder) === folder);
  return isWhole ? undefined : ', as a secret in it cannot be shown';
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
  const folder = visible(textOf(params['cwd']) || cwd);
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return { verb: 'run', lines: commandLines(params), folder, ...decision };
    case 'item/fileChange/requestApproval': {
      const changes = changesOf(textOf(params['itemId']));
      return { verb: 'change', lines: changeLines(changes, params, cwd), folder, ...decision };
    }
    case 'item/permissions/requestApproval':
      return {
        verb: 'have more permissions',
        lines: [visible(JSON.stringify(params['permissions']) ?? '')],
        folder,
        yes: { permissions: withoutNulls(params['permissions']), scope: 'turn' },
        no: { permissions: {}, scope: 'turn' },
      };
    case 'execCommandApproval':
      return { verb: 'run', lines: [visible(commandOf(params['command']))], folder, ...older };
    case 'applyPatchApproval': {
      const changes = readChangesByPath(params['fileChanges']);
      return { verb: 'change', lines: changeLines(changes, params, cwd), folder, ...older };
    }
    default:
      return undefined;
  }
}

/** The command itself, not what the engine makes of it for display, and what else hangs on the answer. */
function commandLines(params: Record<string, unknown>): string[] {
  const { kind = 'command', networkApprovalContext: network } = params;
  // Input for a command that runs already, or what engines will think of: not what is shown here.
  if (kind !== 'command') return [];
  const command = visible(commandOf(params['command']));
  if (!isObject(network)) return [command];
  const address = visible(`${textOf(network['protocol'])}://${textOf(network['host'])}`);
  const reach = `reach ${address} over the network`;
  return command === '' ? [reach] : [command, `and ${reach}`];
}

function changeLines(
  changes: readonly FileChange[] | undefined,
  params: Record<string, unknown>,
  cwd: string,
): string[] {
  if (!changes) return [];
  const root = textOf(params['grantRoot']);
  const more = root === '' ? [] : [`and from then on anything in ${visible(root)}`];
  return [...changes.map((change) => describeChange(change, cwd)), ...more];
}

/** What is granted names only what is granted. */
function withoutNulls(permissions: unknown): Record<string, unknown> {
  const wanted = isObject(permissions) ? Object.entries(permissions) : [];
  return Object.fromEntries(wanted.filter(([, value]) => value !== null));
}

/** What is wanted stands on lines of its own, which it cannot leave: it has no line ends. */
async function askUser(
  { verb, lines, folder }: Wish,
  reason: string,
  { cancellation }: IncomingRequest,
  { agentName, approvals, caller, mask }: ApprovalOptions,
): Promise<boolean> {
  const name = excerpt(agentName, LONGEST_NAME);
  const because = reason === '' ? [] : [`Its reason: ${excerpt(reason, LONGEST_REASON, mask)}`];
  const question = [`The agent "${name}" wants to ${verb} in ${folder}:`, ...lines, ...because];
  const params = {
    message: question.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: { allow: { type: 'boolean', title: 'Allow it', default: false } },
      required: ['allow'],
    },
  };
  if (!caller || approvals !== 'ask') return false;
  if (!canAnswer(caller.capabilities, 'elicitation/create', params)) return false;
  try {
    const { value } = await caller.ask({
      method: 'elicitation/create',
      params: Verbatim.of(params),
      cancellation,
    });
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
