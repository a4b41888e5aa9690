// Signatures of published servers' tools, judged against their schemas by a validator.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import type { Tool } from '../../src/mcp/tools.ts';
import { createProject } from '../support/project.ts';
import { MOCK_CHILD, publishedServer, type ServerEntry } from '../support/servers.ts';
import { disagreements } from '../support/signature.ts';

test.each([
  ['everything', () => publishedServer('everything')],
  ['filesystem', (dir: string) => publishedServer('filesystem', dir)],
  ['memory', () => publishedServer('memory')],
  ['mock', () => MOCK_CHILD],
])('the tools of %s', async (_name, entry: (dir: string) => ServerEntry) => {
  const { dir } = createProject();
  const { command, args } = entry(dir);
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args, cwd: dir, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(3);
  for (const tool of tools)
    expect([tool.name, disagreements(tool as Tool)]).toEqual([tool.name, []]);
});
