// The built program, serving over HTTP, and the official clients as its hosts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';
import { PROGRAM, type Project } from './project.ts';

export interface Serving {
  readonly process: ChildProcess;
  readonly url: string;
  /** The headers hosts must send, from the printed entry. */
  readonly headers: Record<string, string>;
  readonly stderr: () => string;
  readonly stdout: () => string;
  /** Sends SIGTERM and returns the exit status. */
  stop(): Promise<number | null>;
}

export interface ServingOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** Receives the clean-up; by default it runs after the test. */
  readonly atEnd?: (stop: () => Promise<void>) => void;
}

export async function startServing(
  project: Project,
  {
    args = ['serve', '--http', '--port', '0'],
    env = {},
    atEnd = onTestFinished,
  }: ServingOptions = {},
): Promise<Serving> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: project.dir,
    env: { ...project.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  atEnd(async () => void (await stop()));
  const entry = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const line = /^ *(\{"mcpServers".*\})$/m.exec(stderr)?.[1];
      if (line !== undefined) resolve(line);
    });
    void ended.then(() => reject(new Error(`It ended. It said: ${stderr}`)));
  });
  const { url, headers = {} } = (
    JSON.parse(entry) as {
      mcpServers: { switchboard: { url: string; headers?: Record<string, string> } };
    }
  ).mcpServers.switchboard;
  return { process: child, url, headers, stderr: () => stderr, stdout: () => stdout, stop };
}

interface Progress {
  readonly progress: number;
}

interface CallOptions {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

/** A host, with a client from either SDK. */
export interface HttpClient {
  readonly server: object | undefined;
  readonly sessionId: () => string | undefined;
  /** The number of change notifications so far. */
  readonly listChanges: () => number;
  toolNames(): Promise<string[]>;
  callTool(name: string, args: object, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Ends the session, not only the connection. */
  terminate(): Promise<void>;
  close(): Promise<void>;
}

export type ConnectHttp = (
  at: Pick<Serving, 'url' | 'headers'>,
  atEnd?: (close: () => Promise<void>) => void,
) => Promise<HttpClient>;

const CLIENT = { name: 'test-host', version: '1.0.0' };
const LIST_CHANGED = 'notifications/tools/list_changed';

export const connectV1: ConnectHttp = async ({ url, headers }, atEnd = onTestFinished) => {
  const client = new ClientV1(CLIENT);
  const transport = new HttpV1(new URL(url), { requestInit: { headers } });
  const listChanges = countListChanges(client);
  await client.connect(transport);
  atEnd(() => client.close());
  const callTool: HttpClient['callTool'] = (name, args, options) =>
    client.callTool({ name, arguments: { ...args } }, undefined, options);
  return { ...described(client, transport), listChanges, callTool };
};

export const connectV2 =
  (mode: 'legacy' | 'auto'): ConnectHttp =>
  async ({ url, headers }, atEnd = onTestFinished) => {
    const client = new ClientV2(CLIENT, { versionNegotiation: { mode } });
    const transport = new HttpV2(new URL(url), { requestInit: { headers } });
    const listChanges = countListChanges(client);
    await client.connect(transport);
    atEnd(() => client.close());
    const callTool: HttpClient['callTool'] = (name, args, options) =>
      client.callTool({ name, arguments: { ...args } }, options);
    return { ...described(client, transport), listChanges, callTool };
  };

/** Counts the client's change notifications from now on. */
function countListChanges(client: Pick<ClientV1 | ClientV2, 'fallbackNotificationHandler'>) {
  let count = 0;
  client.fallbackNotificationHandler = async ({ method }: { method: string }) => {
    if (method === LIST_CHANGED) count++;
  };
  return () => count;
}

/** The common part of both clients. */
function described(client: ClientV1 | ClientV2, transport: HttpV1 | HttpV2) {
  return {
    server: client.getServerVersion(),
    sessionId: () => transport.sessionId,
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    terminate: () => transport.terminateSession(),
    close: () => client.close(),
  };
}
