// A remote server, started as the program starts it.
import { onTestFinished } from 'vitest';
import type { Child } from '../../src/child/child.ts';
import type { Credentials } from '../../src/child/credentials.ts';
import type { ChildConfig, Remote } from '../../src/config/config.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { childConfig } from './child-config.ts';
import { startChild } from './start-child.ts';
import { startOptions } from './start-options.ts';

export interface RemoteChildOptions {
  readonly type?: Remote['type'];
  readonly headers?: Record<string, string>;
  readonly credentials?: Credentials;
  readonly config?: Partial<ChildConfig>;
}

export interface Started {
  readonly child: Child;
  /** Notifications that don't belong to a request. */
  readonly notifications: { method: string; params: unknown }[];
  readonly stderr: string[];
}

/** Starts the server "far"; it is stopped after the test. */
export function startRemote(url: string, options: RemoteChildOptions = {}): Promise<Started> {
  const { type = 'http', headers = {} } = options;
  const remote: Remote = { type, url, headers };
  return start(
    childConfig({ name: 'far', remote, command: undefined, ...options.config }),
    options,
  );
}

/** The same over stdio, for comparison. */
export function startLocal(command: string, args: readonly string[]): Promise<Started> {
  const entry = { cmd: command, args, env: {} };
  return start(childConfig({ name: 'near', cwd: process.cwd(), command: entry }), {});
}

async function start(config: ChildConfig, { credentials }: RemoteChildOptions): Promise<Started> {
  const notifications: Started['notifications'] = [];
  const stderr: string[] = [];
  const child = await startChild(
    config,
    startOptions({
      credentials,
      onStderr: (line) => stderr.push(line),
      onNotification: (method, params) => notifications.push({ method, params: params?.value }),
    }),
  );
  onTestFinished(() => child.stop());
  return { child, notifications, stderr };
}

/** Calls a tool; returns the raw result. */
export async function callText(
  child: Child,
  tool: string,
  args: unknown = {},
  options: Parameters<Child['callTool']>[2] = {},
): Promise<string> {
  return (await child.callTool(tool, Verbatim.of(args), options)).text;
}

/** The error a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => Promise.reject(new Error('It was to fail, and did not.')),
    (error: unknown) => error as Error,
  );
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
