import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallContext } from '../../../src/calls/call.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { ModernDesk } from '../../../src/session/modern-desk.ts';
import { Parking } from '../../../src/session/parking.ts';
import { StateSeal } from '../../../src/session/request-state.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { EMPTY_SURFACE } from '../../support/empty-surface.ts';
import { createScriptedPeer } from '../../support/scripted-peer.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT = 'io.modelcontextprotocol/clientInfo';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** A desk before a surface that keeps the calls it is handed. */
function createDesk() {
  const calls: CallContext[] = [];
  const levels: string[] = [];
  const surface: Surface = {
    ...EMPTY_SURFACE,
    callTool: async (_name, _args, context) => {
      calls.push(context);
      return Verbatim.of({ content: [] });
    },
    setLogLevel: (level) => void levels.push(level),
  };
  const desk = new ModernDesk({
    party: {},
    peer: createScriptedPeer().peer,
    openSurface: () => surface,
    log: SILENT_LOG,
    seal: new StateSeal(),
    parking: new Parking(),
    questionMs: () => 1_000,
    onReady: () => {},
  });
  const call = async (meta: object): Promise<CallContext | undefined> => {
    const text = JSON.stringify({ params: { name: 'a', arguments: {}, _meta: meta } });
    const params = new Verbatim(text, JSON.parse(text)).member('params');
    const cancellation = new Cancellation();
    await desk.answer({ id: 1, method: 'tools/call', params, cancellation });
    return calls.at(-1);
  };
  return { desk, call, levels };
}

const PLAIN = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} };
const OTHER = {
  [VERSION]: '2026-07-28',
  [CAPABILITIES]: { sampling: {} },
  [CLIENT]: { name: 'other', version: '2' },
  [LOG_LEVEL]: 'warning',
  progressToken: 'p-1',
  traceparent: '00-1',
};

const said = (call: CallContext | undefined) => ({
  capabilities: call?.caller?.capabilities,
  client: call?.caller?.info?.value,
  logLevel: call?.caller?.logLevel,
  handedOn: call?.meta?.value,
  wantsProgress: call?.onProgress !== undefined,
});

test('each request uses its own envelope, not the previous one', async () => {
  const { desk, call, levels } = createDesk();
  const plain = {
    capabilities: {},
    client: undefined,
    logLevel: undefined,
    handedOn: undefined,
    wantsProgress: false,
  };
  const other = {
    capabilities: { sampling: {} },
    client: { name: 'other', version: '2' },
    logLevel: 'warning',
    handedOn: { traceparent: '00-1' },
    wantsProgress: true,
  };
  for (const [meta, expected] of [
    [PLAIN, plain],
    [PLAIN, plain],
    [OTHER, other],
    [PLAIN, plain],
    [
      { ...OTHER, traceparent: '00-2' },
      { ...other, handedOn: { traceparent: '00-2' } },
    ],
  ] as const) {
    expect(said(await call(meta))).toEqual(expected);
  }
  expect(levels).toEqual(['warning', 'warning']);
  expect(desk.report.client).toBe('other');
});

test('a request without an envelope is refused, even after others with one', async () => {
  const { call } = createDesk();
  await call(PLAIN);
  await expect(call({})).rejects.toThrow(VERSION);
  await expect(call({ [VERSION]: '2026-07-28' })).rejects.toThrow(CAPABILITIES);
  await expect(call({ ...PLAIN, [VERSION]: '2099-01-01' })).rejects.toThrow('2099-01-01');
  expect(said(await call(PLAIN)).capabilities).toEqual({});
});
