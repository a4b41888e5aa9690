import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { CallContext } from '../../../src/calls/call.ts';
import { reportStart } from '../../../src/calls/starting.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Library } from '../../../src/surface/library.ts';
import { Suites } from '../../../src/surface/suites.ts';
import { childConfig } from '../../support/child-config.ts';
import { callsFor, createFakePool, FakeChild } from '../../support/fake-child.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Told {
  readonly progress: number;
  readonly message: string;
}

function listen() {
  const told: Told[] = [];
  const onProgress = ({ value }: Verbatim): void => void told.push(value as Told);
  return { told, onProgress };
}

const box = childConfig({ name: 'box' });
const startOf = (ms: number) =>
  new Promise<string>((resolve) => setTimeout(resolve, ms, 'started'));

test('a fast start is not reported', async () => {
  const { told, onProgress } = listen();
  const started = reportStart(startOf(300), box, onProgress);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await started).toBe('started');
  expect(told).toEqual([]);
});

test('a start is reported from its first second until it is done', async () => {
  const { told, onProgress } = listen();
  const started = reportStart(startOf(8_000), box, onProgress);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual([{ progress: -1, message: 'Starting server "box"' }]);
  await vi.advanceTimersByTimeAsync(60_000);
  await started;
  expect(told).toHaveLength(8);
  expect(told.at(-1)?.message).toBe('Starting server "box" (7 s)');
});

test('progress always increases, and stays below a server’s own', async () => {
  const { told, onProgress } = listen();
  void reportStart(startOf(120_000), box, onProgress);
  await vi.advanceTimersByTimeAsync(120_000);
  const values = [...told.map(({ progress }) => progress), 0];
  expect(values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0))).toBe(
    true,
  );
});

test('a failed start is no longer reported', async () => {
  const { told, onProgress } = listen();
  const failing = startOf(700).then(() => Promise.reject(new Error('no luck')));
  const started = reportStart(failing, box, onProgress);
  started.catch(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  await expect(started).rejects.toThrow('no luck');
  expect(told).toHaveLength(1);
});

test.each([
  ['npx', ['-y', 'x'], 'npx'],
  ['/usr/bin/uvx', ['x'], 'uvx'],
  ['docker', ['run', 'x'], 'docker'],
])('a possible download is mentioned: %s', async (cmd, args, runner) => {
  const { told, onProgress } = listen();
  const config = childConfig({ name: 'box', command: { cmd, args, env: {} } });
  void reportStart(startOf(60_000), config, onProgress);
  await vi.advanceTimersByTimeAsync(600);
  expect(told.map(({ message }) => message)).toEqual([
    `Starting server "box"; ${runner} may be downloading it`,
  ]);
});

/** Every way to a server, with a server that takes its time to start. */
const WAYS: Record<string, (parts: Parts, context: CallContext) => Promise<Verbatim>> = {
  introspect: ({ suites }, context) =>
    suites.callTool('box_suite', Verbatim.of({ action: 'introspect' }), context),
  'a call through the suite': ({ suites }, context) => {
    const args = Verbatim.of({ action: 'call', subtool: 'echo', args: {} });
    return suites.callTool('box_suite', args, context);
  },
  'a tool that is listed': ({ calls }, context) =>
    calls.send({
      server: box,
      method: 'tools/call',
      target: 'echo',
      params: Verbatim.of({}),
      context,
      through: 'tool',
    }),
  'a prompt': ({ library }, context) =>
    library.ask('prompts/get', Verbatim.of({ name: 'p' }), context),
  'a resource': ({ library }, context) =>
    library.ask('resources/read', Verbatim.of({ uri: 'a:1' }), context),
  'a completion': ({ library }, context) => {
    const ref = { type: 'ref/resource', uri: 'a:1' };
    return library.ask('completion/complete', Verbatim.of({ ref }), context);
  },
};

function createParts() {
  const { pool, catalog } = createFakePool([box], async () => {
    await startOf(2_000);
    return new FakeChild('echo');
  });
  catalog.rememberList(box, 'prompts', [{ name: 'p' }]);
  catalog.rememberList(box, 'resources', [{ uri: 'a:1' }]);
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent, child: silent };
  const calls = callsFor([box], pool);
  const suites = new Suites([box], { pool, calls, log });
  return { calls, suites, library: new Library([box], { pool, calls }) };
}

type Parts = ReturnType<typeof createParts>;

test.each(Object.entries(WAYS))(
  'a caller waiting for %s gets progress about the start',
  async (_title, way) => {
    const { told, onProgress } = listen();
    const parts = createParts();
    const options = { meta: undefined, cancellation: new Cancellation(), onProgress };
    const answered = way(parts, options);
    await vi.advanceTimersByTimeAsync(3_000);
    await answered;
    expect(told.map(({ message }) => message)).toEqual([
      'Starting server "box"',
      'Starting server "box" (1 s)',
    ]);
    await way(parts, options);
    expect(told).toHaveLength(2);
  },
);
