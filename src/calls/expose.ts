// Refuses calls to tools that `expose` keeps from hosts, before their server is started.
import { SwitchboardError } from '../base/errors.ts';
import type { Config, Expose } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import type { Call, Interceptor } from './call.ts';

/** Undefined if no server restricts its tools. */
export function exposeRules({ children }: Pick<Config, 'children'>): Interceptor | undefined {
  return [...children.values()].some(({ expose }) => restricts(expose)) ? checkExpose : undefined;
}

const checkExpose: Interceptor = (call, next) => {
  const isRefused = call.method === 'tools/call' && !isExposed(call.target, call.server.expose);
  return isRefused ? Promise.reject(notAllowed(call)) : next(call);
};

function restricts({ allow, deny, within }: Expose): boolean {
  return allow !== undefined || deny !== undefined || (within !== undefined && restricts(within));
}

export function notAllowed({
  server,
  target,
  through,
}: Pick<Call, 'server' | 'target' | 'through'>): SwitchboardError {
  const list = through === 'suite' ? '. The action "introspect" lists the allowed subtools' : '';
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Subtool '${target}' not allowed by Switchboard (suite '${server.name}').`,
    { hint: `To change this, edit expose.allow and expose.deny in the configuration${list}.` },
  );
}
