// The official client, without handshake, as the one who decides whether our side of it is right: what
// it sends must pass every check, and what we answer must be what it waits for.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import type { OpenSession } from '../../../../src/host/http/exchange.ts';
import type { Id } from '../../../../src/rpc/message.ts';
import { openTestHost, TOKEN } from '../../../support/http-host.ts';
import { asAnswer, asNotification } from '../../../support/outgoing.ts';
import { eventually } from '../../../support/processes.ts';

const inputSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
};
const LIST = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

interface Request {
  readonly id: Id;
  readonly method: string;
  readonly params: {
    readonly name?: string;
    readonly arguments?: object;
    readonly _meta?: { readonly progressToken?: Id };
  };
}

/** A server with the tools `greet`, which tells of its progress, and `hold`, which never answers. */
function createServer() {
  const held: Id[] = [];
  const calledOff: Id[] = [];
  const openSession: OpenSession = ({ send }) => {
    let waiting: Id | undefined;
    const answer = (id: Id, result: object) =>
      send(JSON.stringify({ jsonrpc: '2.0', id, result }), asAnswer(id, { result }));
    const methods: Record<string, (request: Request) => void> = {
      'server/discover': ({ id }) =>
        answer(id, { ...LIST, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
      'tools/list': ({ id }) =>
        answer(id, { ...LIST, tools: ['greet', 'hold'].map((name) => ({ name, inputSchema })) }),
      'tools/call'({ id, params }) {
        if (params.name === 'hold') {
          waiting = id;
          held.push(id);
          return;
        }
        const progressToken = params._meta?.progressToken;
        for (const progress of progressToken === undefined ? [] : [1, 2]) {
          const told = { method: 'notifications/progress', params: { progressToken, progress } };
          send(
            JSON.stringify({ jsonrpc: '2.0', ...told }),
            asNotification(told.method, { about: id }),
          );
        }
        const text = JSON.stringify(params.arguments);
        answer(id, { resultType: 'complete', content: [{ type: 'text', text }] });
      },
    };
    return {
      receive({ value }) {
        const request = value as Request;
        methods[request.method]?.(request);
      },
      setFull() {},
      close() {
        if (waiting !== undefined) calledOff.push(waiting);
      },
    };
  };
  const toolSchema = () => inputSchema;
  return { openSession, toolSchema, held, calledOff };
}

test('lists, calls, gets progress, repeats arguments in headers, and cancels', async () => {
  const { held, calledOff, ...server } = createServer();
  const host = await openTestHost(server);
  const client = new Client(
    { name: 'test-host', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const headers = { Authorization: `Bearer ${TOKEN}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(host.url), { requestInit: { headers } }),
  );
  onTestFinished(() => client.close());
  expect(client.getProtocolEra()).toBe('modern');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['greet', 'hold']);

  for (const region of ['eu', 'Škofja Loka', ' spaces ', '=?base64?x?=']) {
    const result = await client.callTool({ name: 'greet', arguments: { region } });
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify({ region }) }]);
  }
  const seen: number[] = [];
  const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
  await client.callTool({ name: 'greet', arguments: {} }, { onprogress });
  expect(seen).toEqual([1, 2]);

  const abort = new AbortController();
  const call = client.callTool({ name: 'hold', arguments: {} }, { signal: abort.signal });
  call.catch(() => {}); // looked at below
  expect(await eventually(() => held.length === 1)).toBe(true);
  expect(calledOff).toEqual([]);
  abort.abort();
  await expect(call).rejects.toThrow(/abort/i);
  expect(await eventually(() => calledOff.length === 1)).toBe(true);
  expect(calledOff).toEqual(held);
});
