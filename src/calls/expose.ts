// Refuses calls to tools that `expose` keeps from hosts, before their server is started.
import { SwitchboardError } from '../base/errors.ts';
import type { Config, Expose } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import type { Pool } from '../pool/pool.ts';
import type { Verbatim } from '../rpc/verbatim.ts';
import { type AuditSink, noteDenial } from '../trust/audit/events.ts';
import type { Call, Interceptor, Send } from './call.ts';
import { learnTools, unknownSubtool } from './tool-call.ts';

/** Undefined if no server restricts its tools. */
export function exposeRules(
  { children }: Pick<Config, 'children'>,
  { pool, audit }: { readonly pool: Pool; readonly audit?: AuditSink | undefined },
): Interceptor | undefined {
  if (![...children.values()].some(({ expose }) => restricts(expose))) return undefined;
  // Not async: every extra promise costs on every call.
  return (call, next) => {
    const { server, method, target } = call;
    if (method !== 'tools/call') return next(call);
    if (!isExposed(target, server.expose)) return Promise.reject(notAllowed(call, audit));
    if (!denies(server.expose) || namesIn(pool, call).includes(target)) return next(call);
    return sendListed(pool, call, next);
  };
}

/** A server may accept other spellings of a denied name, so only names it lists can be called. */
async function sendListed(pool: Pool, call: Call, next: Send): Promise<Verbatim> {
  const { server, target, through } = call;
  await learnTools(pool, call);
  const names = namesIn(pool, call);
  if (!names.includes(target)) throw unknownSubtool(server, target, names, through);
  return next(call);
}

function namesIn(pool: Pool, { server }: Call): string[] {
  return pool.tools(server.name)?.map(({ name }) => name) ?? [];
}

function denies({ allow, deny = [], within }: Expose): boolean {
  // Allowed names are exact.
  if (allow !== undefined) return false;
  return deny.length > 0 || (within !== undefined && denies(within));
}

function restricts({ allow, deny, within }: Expose): boolean {
  return allow !== undefined || deny !== undefined || (within !== undefined && restricts(within));
}

const LONGEST_SHOWN = 300;

/** The error for a tool that isn't exposed. Notes the denial if there is an audit log. */
export function notAllowed(
  { server, target, through }: Pick<Call, 'server' | 'target' | 'through'>,
  audit?: AuditSink,
): SwitchboardError {
  noteDenial(audit, { by: 'expose', server: server.name, tool: target });
  const list = through === 'suite' ? '. The action "introspect" lists the allowed subtools' : '';
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool '${target.slice(0, LONGEST_SHOWN)}' not allowed by Switchboard (suite '${server.name}').`,
    { hint: `To change this, edit expose.allow and expose.deny in the configuration${list}.` },
  );
}
