// What hooks answer, in the form of Claude Code's PreToolUse and PostToolUse hooks, plus `route`.
import { isObject } from '../../base/object.ts';
import { cleanText } from '../../base/text.ts';
import { Verbatim } from '../../rpc/verbatim.ts';
import { type HookExit, HookFailure } from './run-hook.ts';

/** What a beforeCall hook wants. All parts may be missing: then the call goes on unchanged. */
export interface BeforeAnswer {
  readonly denied?: { readonly reason: string };
  readonly input?: Verbatim;
  readonly route?: { readonly server: string; readonly tool: string };
}

/** The exit status that blocks a call. */
const BLOCK = 2;
const MAX_NOTE = 10_000;

/** Throws a HookFailure if it can't be understood: what wasn't allowed must not happen. */
export function parseBefore({ status, stdout, stderr }: HookExit): BeforeAnswer {
  if (status === BLOCK) return { denied: { reason: stderr } };
  if (status !== 0) throw new HookFailure(`exited with status ${status}`);
  const answer = parseJson(stdout);
  if (!answer) return {};
  const value = answer.value as Record<string, unknown>;
  const specific = isObject(value['hookSpecificOutput']) ? value['hookSpecificOutput'] : {};
  const { permissionDecision, permissionDecisionReason } = specific;
  if (value['continue'] === false) return denied(value['stopReason']);
  if (isOneOf(value['decision'], 'block', 'deny')) return denied(value['reason']);
  if (permissionDecision === 'deny') return denied(permissionDecisionReason);
  if (permissionDecision === 'ask') return denied(`${ASKS} ${textOf(permissionDecisionReason)}`);
  requireKnown('decision', value['decision'], 'approve', 'allow');
  requireKnown('permissionDecision', permissionDecision, 'allow');
  const input = answer.member('hookSpecificOutput', 'updatedInput');
  if (input && !isObject(input.value)) throw new HookFailure('set updatedInput to a non-object');
  const route = parseRoute(value['route']);
  return { ...(input && { input: input.detached() }), ...(route && { route }) };
}

/** The note an afterCall hook wants to add. Throws a HookFailure if it can't be understood. */
export function parseAfter({ status, stdout, stderr }: HookExit): string | undefined {
  if (status === BLOCK) return toNote(stderr);
  if (status !== 0) throw new HookFailure(`exited with status ${status}`);
  const value = parseJson(stdout)?.value;
  if (!isObject(value)) return undefined;
  const { decision, reason, hookSpecificOutput: specific } = value;
  const context = isObject(specific) ? specific['additionalContext'] : undefined;
  const parts = [decision === 'block' ? reason : undefined, context].map(textOf);
  return toNote(parts.filter(Boolean).join('\n'));
}

const ASKS = "It asked for your approval, which hooks can't do in Switchboard.";

function denied(reason: unknown): BeforeAnswer {
  return { denied: { reason: textOf(reason) } };
}

/** Output that isn't JSON is for people; Claude Code ignores it, too. */
function parseJson(stdout: string): Verbatim | undefined {
  const text = stdout.trim();
  if (!text.startsWith('{')) return undefined;
  try {
    return Verbatim.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new HookFailure('printed invalid JSON', { cause: error });
  }
}

function parseRoute(route: unknown): BeforeAnswer['route'] {
  if (route === undefined) return undefined;
  const { server, tool } = isObject(route) ? route : {};
  if (typeof server === 'string' && typeof tool === 'string') return { server, tool };
  throw new HookFailure('returned a route without "server" and "tool"');
}

function requireKnown(key: string, value: unknown, ...known: readonly string[]): void {
  if (value === undefined || isOneOf(value, ...known)) return;
  throw new HookFailure(`returned an unknown ${key}`);
}

function isOneOf(value: unknown, ...words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? cleanText(value).trim().slice(0, MAX_NOTE) : '';
}

function toNote(text: string): string | undefined {
  return textOf(text) || undefined;
}
