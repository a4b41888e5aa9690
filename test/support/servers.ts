// Entries of `mcpServers` for the test servers, the mock child and the published servers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURES, ROOT } from './project.ts';

export interface ServerEntry {
  readonly command: string;
  readonly args: string[];
}

/** A server of test/fixtures/servers, by the name of its file without `.mjs`. */
export function testServer(name: string, ...args: string[]): ServerEntry {
  return nodeServer(join(FIXTURES, 'servers', `${name}.mjs`), ...args);
}

export const MOCK_CHILD = nodeServer(join(ROOT, 'examples/mock-child/index.mjs'));

/** A published server that is installed here, by the part of its package's name after `server-`. */
export function publishedServer(name: string, ...args: string[]): ServerEntry {
  const folder = join(ROOT, 'node_modules/@modelcontextprotocol', `server-${name}`);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const [program = ''] = Object.values(bin);
  return nodeServer(join(folder, program), ...args);
}

function nodeServer(file: string, ...args: string[]): ServerEntry {
  return { command: process.execPath, args: [file, ...args] };
}
