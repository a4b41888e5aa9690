// The subject of the tests: Switchboard in front of the fixture, or only the fixture, which shows what to expect of
// Switchboard.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Serving, serve } from './programs.ts';

export interface Subject extends AsyncDisposable {
  readonly url: string;
  /** The Node arguments for a host that starts it. */
  readonly stdio: readonly string[];
  /** Calls and their results: a tool of the fixture, and a suite. */
  readonly calls: readonly Call[];
}

export interface Call {
  readonly tool: string;
  readonly args: object;
  readonly text: RegExp;
}

/** A run's output folder. Switchboard is started in the project inside it. */
export interface Place {
  readonly dir: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
}

const START_MS = 60_000;
const LISTED_MS = 60_000;

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const PROGRAM = pathOf('../dist/index.js');
const FIXTURE = pathOf('./fixture/stdio.mjs');
const MOCK = pathOf('../examples/mock-child/index.mjs');

const DIRECT_CALL: Call = { tool: 'test_simple_text', args: {}, text: /simple text response/ };
const SUITE_CALL: Call = { tool: 'mock_suite', args: { action: 'introspect' }, text: /"click"/ };

export function createPlace(dir: string): Place {
  const project = join(dir, 'project');
  const home = join(dir, 'home');
  for (const folder of [project, home]) mkdirSync(folder);
  const { PATH = '' } = process.env;
  return { dir, project, env: { PATH, HOME: home, USERPROFILE: home, NO_COLOR: '1' } };
}

export async function startSwitchboard({ dir, project, env }: Place): Promise<Subject> {
  const mcpServers = {
    // The server ignores the folder argument. It lets us find the process again.
    fixture: { command: process.execPath, args: [FIXTURE, dir], show: 'direct' },
    mock: { command: process.execPath, args: [MOCK, dir] },
  };
  writeFileSync(join(project, 'switchboard.config.json'), JSON.stringify({ mcpServers }, null, 2));
  const args = [PROGRAM, 'serve', '--http', '--no-auth', '--port', '0', '--alone'];
  const logFile = join(dir, 'switchboard.log');
  const program = { command: process.execPath, args, cwd: project, env, logFile };
  return open(await serve(program, START_MS), [PROGRAM, '--alone'], [DIRECT_CALL, SUITE_CALL]);
}

export async function startReference({ dir, project, env }: Place): Promise<Subject> {
  const args = [pathOf('./reference.mjs'), dir];
  const logFile = join(dir, 'reference.log');
  const program = { command: process.execPath, args, cwd: project, env, logFile };
  return open(await serve(program, START_MS), [FIXTURE, dir], [DIRECT_CALL]);
}

/** The suite's scenarios don't wait for a server that is still starting. */
async function open(
  serving: Serving,
  stdio: readonly string[],
  calls: readonly Call[],
): Promise<Subject> {
  try {
    await untilListed(serving.url, DIRECT_CALL.tool);
    return { ...serving, stdio, calls };
  } catch (error) {
    await serving[Symbol.asyncDispose]();
    throw error;
  }
}

async function untilListed(url: string, tool: string): Promise<void> {
  const client = new Client({ name: 'conformance', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  try {
    const end = Date.now() + LISTED_MS;
    for (;;) {
      const { tools } = await client.listTools();
      if (tools.some(({ name }) => name === tool)) return;
      if (Date.now() > end) {
        const names = tools.map(({ name }) => name).join(', ') || 'nothing';
        throw new Error(`${tool} was not listed within ${LISTED_MS} ms, but ${names}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await transport.terminateSession();
    await client.close();
  }
}
