import { expect, test } from 'vitest';
import type { Era } from '../../../src/mcp/eras.ts';
import { RpcError } from '../../../src/rpc/message.ts';
import { Parking } from '../../../src/session/parking.ts';
import { StateSeal } from '../../../src/session/request-state.ts';
import { Session } from '../../../src/session/session.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { EMPTY_SURFACE } from '../../support/empty-surface.ts';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const GREETING = { protocolVersion: '2025-11-25', capabilities: {} };

/** A session; what it offers can be changed, as a reload does. */
function createSession(offered: 'both' | Era, surface: Surface = EMPTY_SURFACE) {
  const offer = { eras: offered };
  const answers = new Map<unknown, Record<string, unknown>>();
  const silent = () => {};
  const session = new Session({
    openSurface: () => surface,
    log: { debug: silent, info: silent, warn: silent, error: silent, child: silent },
    send: (json) => {
      const message = JSON.parse(json) as Record<string, unknown>;
      answers.set(message['id'], message);
    },
    onReady: silent,
    eras: () => offer.eras,
    seal: new StateSeal(),
    parking: new Parking(),
    questionMs: () => 1_000,
    onRootsChanged: silent,
  });
  let lastId = 0;
  const request = async (method: string, params: object = {}) => {
    const id = ++lastId;
    const value = { jsonrpc: '2.0', id, method, params };
    session.receive({ text: JSON.stringify(value), value, framing: 'newline' });
    return expect
      .poll(() => answers.get(id))
      .toBeDefined()
      .then(() => answers.get(id));
  };
  return { offer, request };
}

test('a session that started in the modern era stays in it, whatever is offered later', async () => {
  const { offer, request } = createSession('both');
  await request('server/discover', { _meta: ENVELOPE });
  offer.eras = 'handshake';
  expect(await request('tools/list', { _meta: ENVELOPE })).toMatchObject({ result: { tools: [] } });
});

test('a session refused the modern era is not offered it later', async () => {
  const { offer, request } = createSession('handshake');
  await request('server/discover', { _meta: ENVELOPE });
  offer.eras = 'both';
  expect(await request('tools/list', { _meta: ENVELOPE })).toMatchObject({
    error: { code: -32_022 },
  });
  expect(await request('initialize', GREETING)).toMatchObject({
    result: { protocolVersion: '2025-11-25' },
  });
});

test('a host that only probed the modern era may still start a handshake', async () => {
  const { request } = createSession('both');
  await request('server/discover', { _meta: ENVELOPE });
  expect(await request('initialize', GREETING)).toMatchObject({
    result: { protocolVersion: '2025-11-25' },
  });
});

test('a subscription the server refuses is refused every time, and is not kept', async () => {
  const watched: string[][] = [];
  const { request } = createSession('handshake', {
    ...EMPTY_SURFACE,
    watch: async (uris) => {
      watched.push([...uris]);
      if (uris.has('a:no')) throw new RpcError(-32_602, 'no such resource');
    },
  });
  await request('initialize', GREETING);
  await request('resources/subscribe', { uri: 'a:yes' });
  for (let time = 0; time < 2; time++) {
    expect(await request('resources/subscribe', { uri: 'a:no' })).toHaveProperty('error');
  }
  expect(watched.at(-1)).toEqual(['a:yes']);
});
