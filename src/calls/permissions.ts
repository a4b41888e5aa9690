// Applies `permissions` and `readOnly` to every call. Loaded only if a server has such rules.
import { SwitchboardError } from '../base/errors.ts';
import type { ChildConfig, Config } from '../config/config.ts';
import type { PermissionDecision } from '../config/permission-rules.ts';
import { type AuditSink, noteDenial } from '../trust/audit/events.ts';
import { type Call, type Interceptor, lazily } from './call.ts';
import type { InterceptorParts } from './calls.ts';
import { learnTools } from './tool-call.ts';

/** Undefined if no server has rules. */
export function permissionRules(
  { children, permissions }: Pick<Config, 'children' | 'permissions'>,
  parts: InterceptorParts,
): Interceptor | undefined {
  const isRuled = [...children.values()].some(({ rules }) => rules !== undefined);
  if (!isRuled) return undefined;
  if (!permissions) throw new Error('Servers have rules, but the configuration has none.');
  const checked = lazily(async () => {
    const { PermissionCheck } = await import('../trust/permissions/check.ts');
    const check = new PermissionCheck({ ...parts, permissions });
    return async (call, next) => {
      const { rules } = call.server;
      if (rules?.refusal) throw denyServer(call, rules.refusal, parts.audit);
      if (rules) await check.require(call, rules, () => learnTools(parts.pool, call));
      return next(call);
    };
  });
  return (call, next) => (call.server.rules ? checked(call, next) : next(call));
}

function denyServer(
  { server, method, target }: Call,
  refusal: PermissionDecision,
  audit: AuditSink | undefined,
): SwitchboardError {
  const tool = method === 'tools/call' || method === 'prompts/get' ? target : undefined;
  noteDenial(audit, { by: 'permissions', server: server.name, tool, rule: refusal.because });
  return serverDenied(server.name, refusal);
}

/**
 * The error for a tool whose name is reason enough to deny it, before its server has to be started. Notes the denial
 * if there is an audit log.
 */
export function denialOf(
  { name, rules }: ChildConfig,
  tool: string,
  audit?: AuditSink,
): SwitchboardError | undefined {
  const decision = rules?.refusal ?? rules?.decide({ kind: 'tool', name: tool });
  if (decision?.permission !== 'deny') return undefined;
  noteDenial(audit, { by: 'permissions', server: name, tool, rule: decision.because });
  if (rules?.refusal) return serverDenied(name, rules.refusal);
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Tool "${tool}" of server "${name}" is not allowed (${decision.because}).`,
    { hint: `To see which rule applies, run: switchboard permissions explain ${name} ${tool}` },
  );
}

/** Whether permissions allow it now. The owner may not have been known before. */
export function isWatchable(uri: string, { rules }: ChildConfig): boolean {
  return !rules || rules.decide({ kind: 'resource', name: uri })?.permission === 'allow';
}

/** A subscription starts its server and outlasts the request, so the user isn't asked about it. */
export function requireWatchable(
  uri: string,
  owner: ChildConfig | undefined,
  audit: AuditSink | undefined,
): void {
  const decision = owner?.rules?.decide({ kind: 'resource', name: uri });
  if (!owner || !decision || decision.permission === 'allow') return;
  const { because: rule } = decision;
  noteDenial(audit, { by: 'permissions', server: owner.name, tool: undefined, rule });
  throw new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subscribing to resource ${uri} of server "${owner.name}" is not allowed (${decision.because}).`,
    { hint: 'Only resources that permissions allow without asking can be watched.' },
  );
}

/** The error for a server of which nothing may be used. */
export function serverDenied(name: string, { because }: PermissionDecision): SwitchboardError {
  return new SwitchboardError('TOOL_NOT_ALLOWED', `Server "${name}" is not allowed (${because}).`, {
    hint: 'To change this, edit the permissions in that file.',
  });
}
