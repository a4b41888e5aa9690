import { expect, test } from 'vitest';
import type { Era } from '../../../src/mcp/eras.ts';
import { Parking } from '../../../src/session/parking.ts';
import { StateSeal } from '../../../src/session/request-state.ts';
import { Session } from '../../../src/session/session.ts';
import { EMPTY_SURFACE } from '../../support/empty-surface.ts';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const GREETING = { protocolVersion: '2025-11-25', capabilities: {} };

/** A session; what it offers can be changed, as a reload does. */
function createSession(offered: 'both' | Era) {
  const offer = { eras: offered };
  const answers = new Map<unknown, Record<string, unknown>>();
  const silent = () => {};
  const session = new Session({
    openSurface: () => EMPTY_SURFACE,
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
