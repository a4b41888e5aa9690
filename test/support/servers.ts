// `mcpServers` entries for the test servers, the mock child and the published servers.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURES, ROOT } from './project.ts';

export interface ServerEntry {
  readonly command: string;
  readonly args: string[];
}

/** A server from test/fixtures/servers, by its file name without `.mjs`. */
export function testServer(name: string, ...args: string[]): ServerEntry {
  return nodeServer(join(FIXTURES, 'servers', `${name}.mjs`), ...args);
}

export const MOCK_CHILD = nodeServer(join(ROOT, 'examples/mock-child/index.mjs'));

/** A server that speaks these eras: `handshake`, `modern` or `both`. */
export function eraServer(era: string, ...args: string[]): ServerEntry {
  return nodeServer(bundled(eraBundle(era)) ?? eraServerFile(era), ...args);
}

/** An installed published server, by the part of its package's name after `server-`. */
export function publishedServer(name: string, ...args: string[]): ServerEntry {
  return nodeServer(bundled(publishedBundle(name)) ?? publishedServerFile(name), ...args);
}

/** The environment variable with the folder of bundles, if there are any (bundle-servers.ts). */
export const BUNDLED = 'SWITCHBOARD_TEST_SERVERS';

export const eraBundle = (era: string) => `eras/${era}-server`;
export const publishedBundle = (name: string) => `server-${name}/dist/index`;

export function eraServerFile(era: string): string {
  return join(FIXTURES, 'eras', `${era}-server.mjs`);
}

export function publishedServerFile(name: string): string {
  const folder = join(ROOT, 'node_modules/@modelcontextprotocol', `server-${name}`);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const [program = ''] = Object.values(bin);
  return join(folder, program);
}

function bundled(name: string): string | undefined {
  const folder = process.env[BUNDLED];
  const file = folder === undefined ? undefined : join(folder, `${name}.js`);
  return file !== undefined && existsSync(file) ? file : undefined;
}

function nodeServer(file: string, ...args: string[]): ServerEntry {
  return { command: process.execPath, args: [file, ...args] };
}
