// Answers Codex's approval requests. No user is at its terminal, so we ask the host's user if possible, and decline
// otherwise. Codex always gets an answer.
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
import { stringOf } from './events.ts';
import { commandOf } from './shell-words.ts';
import { visible } from './visible.ts';

export interface ApprovalOptions {
  readonly agentName: string;
  readonly cwd: string;
  readonly approvals: AgentSettings['approvals'];
  readonly caller: Caller | undefined;
  /** The files an item is about to change, if known. */
  readonly changesOf: (itemId: string) => readonly FileChange[] | undefined;
  readonly onEvent: (event: EngineEvent) => void;
  readonly mask: Mask;
}

/** An action Codex wants to take, and the answers it accepts. */
interface ApprovalRequest {
  /** The verb for `lines`, as part of a sentence. */
  readonly verb: string;
  /** Shown in full; empty if unknown. */
  readonly lines: readonly string[];
  readonly folder: string;
  readonly yes: object;
  readonly no: object;
}

/** Few hosts show more than this, and users don't read it. */
const LONGEST = 4_000;
const LONGEST_REASON = 500;
const LONGEST_NAME = 100;
const NO_ANSWER = { action: 'decline', content: null, _meta: null };
const REJECTION = 'The user did not allow it.';

export async function answerCodex(
  request: IncomingRequest,
  options: ApprovalOptions,
): Promise<Verbatim> {
  const params = isObject(request.params?.value) ? request.params.value : {};
  if (request.method === 'mcpServer/elicitation/request') {
    return forwardQuestion(params, request, options);
  }
  if (request.method === 'item/tool/requestUserInput') return Verbatim.of({ answers: {} });
  const wanted = readRequest(request.method, params, options);
  if (!wanted) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
  const problem = whyNotShown(wanted, options);
  const isAllowed =
    problem === undefined && (await askUser(wanted, stringOf(params['reason']), request, options));
  const verdict = isAllowed ? 'allowed' : `not allowed${problem ?? ''}`;
  const what = `${wanted.verb} ${wanted.lines.join(', ')} in ${wanted.folder}`;
  const text = excerpt(`${verdict}: ${what}`, 300, options.mask);
  options.onEvent({ kind: isAllowed ? 'step' : 'warning', text });
  return Verbatim.of(isAllowed ? wanted.yes : wanted.no);
}

/** Why the user couldn't see what to approve, as part of a sentence. Such requests are declined. */
function whyNotShown(
  { lines, folder }: ApprovalRequest,
  { mask, cwd }: Pick<ApprovalOptions, 'mask' | 'cwd'>,
): string | undefined {
  const shown = lines.join('\n');
  if (shown.trim() === '') return ' (unknown action)';
  if (shown.length + folder.length > LONGEST) return ' (too long to display)';
  // The caller chose the run's folder, so it's not a secret.
  const isWhole = mask(shown) === shown && (folder === cwd || mask(folder) === folder);
  return isWhole ? undefined : ' (contains a secret)';
}

function readRequest(
  method: string,
  params: Record<string, unknown>,
  { changesOf, cwd }: ApprovalOptions,
): ApprovalRequest | undefined {
  const decision = { yes: { decision: 'accept' }, no: { decision: 'decline' } };
  const older = {
    yes: { decision: 'approved' },
    no: { decision: { denied: { rejection: REJECTION } } },
  };
  const folder = visible(stringOf(params['cwd']) || cwd);
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return { verb: 'run', lines: commandLines(params), folder, ...decision };
    case 'item/fileChange/requestApproval': {
      const changes = changesOf(stringOf(params['itemId']));
      return { verb: 'change', lines: changeLines(changes, params, cwd), folder, ...decision };
    }
    case 'item/permissions/requestApproval':
      return {
        verb: 'get more permissions',
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

/** The command itself, not Codex's display form, and the network access that comes with it. */
function commandLines(params: Record<string, unknown>): string[] {
  const { kind = 'command', networkApprovalContext: network } = params;
  // Input for a running command, or something newer: not what we would show.
  if (kind !== 'command') return [];
  const command = visible(commandOf(params['command']));
  if (!isObject(network)) return [command];
  const address = visible(`${stringOf(network['protocol'])}://${stringOf(network['host'])}`);
  const reach = `reach ${address} over the network`;
  return command === '' ? [reach] : [command, `and ${reach}`];
}

function changeLines(
  changes: readonly FileChange[] | undefined,
  params: Record<string, unknown>,
  cwd: string,
): string[] {
  if (!changes) return [];
  const root = stringOf(params['grantRoot']);
  const more = root === '' ? [] : [`and from now on anything in ${visible(root)}`];
  return [...changes.map((change) => describeChange(change, cwd)), ...more];
}

/** A grant lists only what is granted. */
function withoutNulls(permissions: unknown): Record<string, unknown> {
  const wanted = isObject(permissions) ? Object.entries(permissions) : [];
  return Object.fromEntries(wanted.filter(([, value]) => value !== null));
}

/** Puts each action on its own line; without line breaks it can't fake another one. */
async function askUser(
  { verb, lines, folder }: ApprovalRequest,
  reason: string,
  { cancellation }: IncomingRequest,
  { agentName, approvals, caller, mask }: ApprovalOptions,
): Promise<boolean> {
  const name = excerpt(agentName, LONGEST_NAME);
  const because = reason === '' ? [] : [`Reason: ${excerpt(reason, LONGEST_REASON, mask)}`];
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
    return false; // no answer is no approval
  }
}

/** Forwards a question from one of the agent's servers to the host unchanged. */
async function forwardQuestion(
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
