// Hosts built on the official SDK clients that fetch the tool list after every change notification, so that
// their model sees the list they fetched last.
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { PROGRAM, type Project } from './project.ts';
import type { ServerEntry } from './servers.ts';

export interface Launch extends ServerEntry {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

interface ListedTool {
  readonly name: string;
  readonly [key: string]: unknown;
}

export interface RelistingHost {
  /** The process ID of its server. */
  readonly pid: number;
  /** The tool list its model sees: the last one fetched. */
  readonly shown: readonly ListedTool[];
  /** The number of change notifications so far. */
  readonly timesTold: number;
  callTool(name: string, args?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The common part of both clients. */
interface Client {
  listTools(): Promise<{ tools: unknown[] }>;
  callTool(params: {
    name: string;
    arguments: Record<string, unknown>;
  }): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

type Connect = (launch: Launch, onListChanged: () => void) => Promise<[Client, number | null]>;

const CLIENT = { name: 'relisting-host', version: '1.0.0' };

/** The capabilities Switchboard declares to its servers: some list more tools for them. */
export const CAPABILITIES = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};

const connectV1: Connect = async (launch, onListChanged) => {
  const client = new ClientV1(CLIENT, { capabilities: CAPABILITIES });
  client.setNotificationHandler(ToolListChangedNotificationSchema, onListChanged);
  const transport = new StdioV1({ ...launch, stderr: 'ignore' });
  await client.connect(transport);
  return [client, transport.pid];
};

const connectV2 =
  (mode: 'legacy' | 'auto'): Connect =>
  async (launch, onListChanged) => {
    const client = new ClientV2(CLIENT, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode },
    });
    client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
    const transport = new StdioV2({ ...launch, stderr: 'ignore' });
    await client.connect(transport);
    return [client, transport.pid];
  };

export const SDK_CLIENTS: readonly { readonly client: string; readonly connect: Connect }[] = [
  { client: 'the client of SDK v1', connect: connectV1 },
  { client: 'the client of SDK v2, legacy', connect: connectV2('legacy') },
  { client: 'the client of SDK v2, auto', connect: connectV2('auto') },
];

/** Connects to a server and fetches its list. Closed after the test. */
export async function connectHost(connect: Connect, launch: Launch): Promise<RelistingHost> {
  let shown: readonly ListedTool[] = [];
  let timesTold = 0;
  const relist = async () => {
    shown = (await client.listTools()).tools as ListedTool[];
  };
  const [client, pid] = await connect(launch, () => {
    timesTold++;
    relist().catch(() => {}); // the server may be gone by then
  });
  onTestFinished(() => client.close());
  await relist();
  return {
    pid: pid ?? 0,
    get shown() {
      return shown;
    },
    get timesTold() {
      return timesTold;
    },
    callTool: (name, args = {}) => client.callTool({ name, arguments: { ...args } }),
    close: () => client.close(),
  };
}

export function switchboardIn({ dir, env }: Project, ...args: string[]): Launch {
  return { command: process.execPath, args: [PROGRAM, ...args], cwd: dir, env };
}
