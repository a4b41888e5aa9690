// Hosts that don't read: they slow down the servers that work for them, and nobody else.
import { existsSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/processes.ts';
import { createProject } from '../support/project.ts';
import { connectV1, type Serving, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

/** 64 MiB of progress: more than sockets and pipes take by themselves. */
const STEPS = 1_024;

async function start() {
  const project = createProject();
  const journal = join(project.dir, 'journal');
  const server = testServer('floods', journal);
  project.write('switchboard.config.json', { mcpServers: { flooded: server, quiet: server } });
  const serving = await startServing(project);
  const steps = () => (existsSync(journal) ? Number(readFileSync(journal, 'utf8')) : 0);
  return { serving, steps };
}

/** A handshake, and then a call whose response is left unread. */
async function flood(serving: Serving): Promise<IncomingMessage> {
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'slow' } };
  const first = await post(serving, {}, { id: 1, method: 'initialize', params: hello });
  first.resume();
  const headers = { 'mcp-session-id': String(first.headers['mcp-session-id']) };
  const args = { action: 'call', subtool: 'flood', args: { count: STEPS } };
  const params = { name: 'flooded_suite', arguments: args, _meta: { progressToken: 'p' } };
  return post(serving, headers, { id: 2, method: 'tools/call', params });
}

function post({ url, headers }: Serving, more: Record<string, string>, message: object) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: {
        ...headers,
        ...more,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
    });
    onTestFinished(() => void sent.destroy());
    sent.once('error', reject);
    sent.once('response', resolve);
    sent.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  });
}

/** Waits until the count stands still, and returns it. */
async function standstill(count: () => number): Promise<number> {
  for (let before = -1; ; ) {
    const now = count();
    if (now === before) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const echo = (text: string) => ({ action: 'call', subtool: 'echo', args: { text } });

test('a host that does not read slows down only its own server, and later gets everything', async () => {
  const { serving, steps } = await start();
  const unread = await flood(serving);
  const other = await connectV1(serving);
  expect(await eventually(() => steps() > 0)).toBe(true);
  expect(await standstill(steps)).toBeLessThan(STEPS);

  expect(JSON.stringify(await other.callTool('quiet_suite', echo('hello')))).toContain('hello');
  expect(await standstill(steps)).toBeLessThan(STEPS);

  let text = '';
  for await (const piece of unread.setEncoding('utf8')) text += piece as string;
  expect(text.match(/"progress":\d+/g)).toHaveLength(STEPS);
  expect(text).toContain(`flooded ${STEPS} times`);
});

test('a server shared by two hosts keeps running: the one that does not read loses its stream', async () => {
  const { serving, steps } = await start();
  const unread = await flood(serving);
  unread.on('error', () => {}); // it is cut off
  const other = await connectV1(serving);
  expect(await eventually(() => steps() > 0)).toBe(true);
  expect(await standstill(steps)).toBeLessThan(STEPS);

  const result = await other.callTool('flooded_suite', echo('hello'));
  expect(JSON.stringify(result)).toContain('hello');
  await expect.poll(steps).toBe(STEPS);
  await expect
    .poll(() => serving.stderr())
    .toContain('an HTTP client left too much unread: its stream was closed.');
});
