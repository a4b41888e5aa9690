// Switches servers on and off the way a host's model does, and waits for their state.
import { type Answer, type RawHost, textOf } from './raw-host.ts';

export const GATEWAY = ['gateway_activate', 'gateway_deactivate', 'gateway_status'];

/** A server as `gateway_status` reports it. */
export interface ServerStatus {
  readonly name: string;
  readonly state: string;
  readonly ready: boolean;
  readonly active: boolean;
  readonly tools?: number;
  readonly error?: string;
}

export const activate = (host: RawHost, name: string): Promise<Answer> =>
  host.callTool('gateway_activate', { name });

export const deactivate = (host: RawHost, name: string): Promise<Answer> =>
  host.callTool('gateway_deactivate', { name });

export async function statusOf(host: RawHost, name: string): Promise<ServerStatus | undefined> {
  const { result } = await host.callTool('gateway_status');
  return serversIn(result).find((server) => server.name === name);
}

/** The servers in a `gateway_status` result. */
export function serversIn(result: Record<string, unknown> | undefined): readonly ServerStatus[] {
  const meta = result?.['_meta'] as { 'switchboard/servers'?: ServerStatus[] } | undefined;
  return meta?.['switchboard/servers'] ?? [];
}

/** Waits until a server reaches a state and returns its status. */
export async function reaches(host: RawHost, name: string, state: string): Promise<ServerStatus> {
  let status: ServerStatus | undefined;
  const isThere = async () => {
    status = await statusOf(host, name);
    return status?.state === state;
  };
  if ((await becomes(isThere)) && status) return status;
  throw new Error(`${name} is ${JSON.stringify(status)}`);
}

/** Waits for an asynchronous condition; returns whether it came true within the limit. */
export async function becomes(isTrue: () => Promise<boolean>, limitMs = 120_000): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** The process ID of a switched-on toolbox. */
export async function pidOf(host: RawHost, tool = 'where_am_i'): Promise<number> {
  return (JSON.parse(textOf(await host.callTool(tool))) as { pid: number }).pid;
}
