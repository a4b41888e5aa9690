import { afterEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Catalog } from '../../../src/pool/catalog.ts';
import { Pool } from '../../../src/pool/pool.ts';
import { type StartAttempt, silenceBeforeOther } from '../../../src/pool/starter.ts';
import { childConfig } from '../../support/child-config.ts';
import {
  byName,
  createFakePool,
  FakeChild,
  onBug,
  temporaryFolder,
  turn,
} from '../../support/fake-child.ts';

const kid = childConfig({ name: 'kid' });
/** A host's party. */
const host = {};

afterEach(() => void vi.useRealTimers());

function createPool(
  start: (attempt: StartAttempt, count: number) => Promise<FakeChild>,
  config: ChildConfig = kid,
) {
  const attempts: StartAttempt[] = [];
  const made = createFakePool([config], (_config, attempt) => {
    attempts.push(attempt);
    return start(attempt, attempts.length);
  });
  return { ...made, attempts };
}

const use = async (pool: Pool, name = 'kid') => pool.use(name, new Cancellation());

test('concurrent uses of a starting server get the same one', async () => {
  const { pool, attempts } = createPool(async () => new FakeChild());
  const [first, second] = await Promise.all([use(pool), use(pool)]);

  expect(first).toBe(second);
  expect(await use(pool)).toBe(first);
  expect(attempts).toHaveLength(1);
});

test('after a server has exited, the next use starts a new one', async () => {
  const { pool } = createPool(async () => new FakeChild());
  const first = (await use(pool)) as unknown as FakeChild;
  first.end({ kind: 'exited', code: 1, signal: null });
  await turn();

  expect(await use(pool)).not.toBe(first);
});

test('a failed start rejects all waiting uses, and the next use tries again', async () => {
  const { pool } = createPool(async (_attempt, count) => {
    if (count === 1) throw new Error('no luck');
    return new FakeChild();
  });
  const waiting = [use(pool), use(pool)];

  for (const use of waiting) await expect(use).rejects.toThrow('no luck');
  await expect(use(pool)).resolves.toBeInstanceOf(FakeChild);
});

test('five quick starts park the server, and the error says until when', async () => {
  const { pool, attempts } = createPool(async () => {
    throw new Error('no luck');
  });
  for (let start = 0; start < 5; start++) await use(pool).catch(() => {});

  await expect(use(pool)).rejects.toMatchObject({
    code: 'CHILD_PARKED',
    message: expect.stringMatching(/parked until \d\d:\d\d:\d\d/) as string,
  });
  expect(attempts).toHaveLength(5);
});

const silent = () =>
  new SwitchboardError('CHILD_START_FAILED', 'silence', { data: { silent: true } });

test('if a package runner was silent, its next start uses the other framing', async () => {
  const npx = childConfig({ name: 'kid', command: { cmd: 'npx', args: ['server'], env: {} } });
  const { pool, attempts } = createPool(async (_attempt, count) => {
    if (count > 1) return new FakeChild();
    throw silent();
  }, npx);
  await use(pool).catch(() => {});
  await use(pool);

  expect(attempts.map(({ framing }) => framing)).toEqual(['newline', 'content-length']);
  expect(attempts.map(({ silence }) => silence)).toEqual([undefined, undefined]);
});

test('a silent server is also started in the other framing, within the same start', async () => {
  const stopped: string[] = [];
  const { pool, catalog, attempts } = createPool(({ silence, framing, cancellation }) => {
    if (framing === 'content-length') return Promise.resolve(new FakeChild());
    setImmediate(() => silence?.onSilent());
    return new Promise((_resolve, reject) => {
      cancellation.listen(() => {
        stopped.push(framing);
        reject(cancellation.reason);
      });
    });
  });
  await use(pool);

  expect(attempts.map(({ framing }) => framing)).toEqual(['newline', 'content-length']);
  expect(attempts[0]?.silence?.afterMs).toBe(silenceBeforeOther(kid.timeouts.spawnMs));
  expect(stopped).toEqual(['newline']);
  expect(catalog.get(kid).framing).toBe('content-length');
});

test.each([
  [8_000, 4_000],
  [60_000, 30_000],
  [4_000, 3_000], // a server that needs 2.5 s is started once
  [2_000, 1_000],
  [300, 150],
])('with %i ms to start, the other framing is tried after %i ms', (spawnMs, afterMs) => {
  expect(silenceBeforeOther(spawnMs)).toBe(afterMs);
});

test('a server that was only slow is used, and the second one stopped', async () => {
  const late = new FakeChild();
  const { pool, catalog, attempts } = createPool(
    ({ silence, framing, cancellation }) =>
      new Promise((resolve, reject) => {
        if (framing === 'newline') {
          silence?.onSilent();
          setImmediate(() => resolve(late));
        }
        cancellation.listen(() => reject(cancellation.reason));
      }),
  );

  expect(await use(pool)).toBe(late);
  expect(attempts[1]?.cancellation.reason).toBeDefined();
  expect(catalog.get(kid).framing).toBe('newline');
});

test('a framing that has worked is kept, until a start ends in silence', async () => {
  const { pool, attempts } = createPool(async (_attempt, count) => {
    if (count === 2) throw silent();
    return new FakeChild();
  });
  const first = (await use(pool)) as unknown as FakeChild;
  first.crash();
  await turn();
  await use(pool).catch(() => {});
  await use(pool);

  expect(attempts.map(({ silence }) => silence !== undefined)).toEqual([true, false, true]);
  expect(attempts.map(({ framing }) => framing)).toEqual(['newline', 'newline', 'newline']);
});

test('if the framing is configured, no other is tried', async () => {
  const fixed = childConfig({ name: 'kid', framing: 'newline' });
  const { pool, attempts } = createPool(async () => {
    throw silent();
  }, fixed);
  for (let start = 0; start < 2; start++) await use(pool).catch(() => {});

  expect(attempts).toMatchObject([{ framing: 'newline' }, { framing: 'newline' }]);
  expect(attempts.map(({ silence }) => silence)).toEqual([undefined, undefined]);
});

test('a cancelled use rejects at once; the start continues for the others', async () => {
  const { pool } = createPool(
    () => new Promise((resolve) => setTimeout(() => resolve(new FakeChild()), 50)),
  );
  const cancellation = new Cancellation();
  const impatient = pool.use('kid', cancellation);
  const patient = use(pool);
  cancellation.cancel(new Error('never mind'));

  await expect(impatient).rejects.toThrow('never mind');
  await expect(patient).resolves.toBeInstanceOf(FakeChild);
});

test('closing stops running servers, cancels starts, and refuses new uses', async () => {
  let aborted = false;
  const { pool } = createPool(
    ({ cancellation }) =>
      new Promise((_resolve, reject) => {
        cancellation.listen(() => {
          aborted = true;
          reject(cancellation.reason);
        });
      }),
  );
  const waiting = use(pool);
  await turn();
  await pool[Symbol.asyncDispose]();

  await expect(waiting).rejects.toThrow('shutting down');
  expect(aborted).toBe(true);
  await expect(use(pool)).rejects.toThrow('shutting down');
});

test('an unknown name is an error with suggestions', async () => {
  const { pool } = createPool(async () => new FakeChild());
  await expect(use(pool, 'kit')).rejects.toMatchObject({
    code: 'CHILD_UNKNOWN',
    hint: 'Did you mean kid?',
  });
});

test('a configuration problem is reported each time, and never parks the server', async () => {
  const pool = new Pool(byName([kid]), {
    start: async () => {
      throw new SwitchboardError('CHILD_NOT_CONFIGURED', 'no variable');
    },
    catalog: new Catalog(temporaryFolder(), () => {}),
    events: { onListChanged: () => {}, onResourceUpdated: () => {}, onLost: () => {} },
    onBug,
  });
  for (let time = 0; time < 8; time++) await expect(use(pool)).rejects.toThrow('no variable');
});

test('the next process starts once the previous one is gone', async () => {
  const gone: string[] = [];
  const { pool } = createPool(async (attempt, count) => {
    if (count === 2) return new FakeChild();
    attempt.onStopping(
      new Promise((resolve) =>
        setTimeout(() => {
          gone.push('the first');
          resolve();
        }, 50),
      ),
    );
    throw new Error('no luck');
  });
  await expect(use(pool)).rejects.toThrow('no luck');
  expect(gone).toEqual([]);
  await use(pool);

  expect(gone).toEqual(['the first']);
});

test('all are warmed up, a few at a time, and a failure affects no other', async () => {
  const children = Array.from({ length: 100 }, (_, index) => childConfig({ name: `kid${index}` }));
  let running = 0;
  let most = 0;
  const { pool } = createFakePool(children, async ({ name }) => {
    most = Math.max(most, ++running);
    await turn();
    running--;
    if (name === 'kid7') throw new Error('no luck');
    return new FakeChild();
  });
  await pool.warmAll(children.map(({ name }) => name));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(100);
  const states = children.map(({ name }) => pool.report(name).state);
  expect(states.filter((state) => state === 'ready')).toHaveLength(99);
  expect(pool.errorOf('kid7')?.message).toBe('no luck');
});

test('servers that hang keep their turn only briefly', async () => {
  vi.useFakeTimers();
  const hangs = Array.from({ length: 40 }, (_, index) => childConfig({ name: `mute${index}` }));
  const { pool } = createFakePool([...hangs, kid], ({ name }, { cancellation }) =>
    name === 'kid'
      ? Promise.resolve(new FakeChild())
      : new Promise((_resolve, reject) => cancellation.listen(() => reject(cancellation.reason))),
  );
  void pool.warmAll([...hangs.map(({ name }) => name), 'kid']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(pool.report('kid').state).toBe('idle');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(pool.report('kid').state).toBe('ready');
  expect(pool.report('mute0').state).toBe('warming');
});

test('a use during warm-up does not wait for its turn', async () => {
  const hangs = Array.from({ length: 40 }, (_, index) => childConfig({ name: `mute${index}` }));
  const { pool } = createFakePool([...hangs, kid], ({ name }, { cancellation }) =>
    name === 'kid'
      ? Promise.resolve(new FakeChild())
      : new Promise((_resolve, reject) => cancellation.listen(() => reject(cancellation.reason))),
  );
  void pool.warmAll([...hangs.map(({ name }) => name), 'kid']);
  await pool.warm('kid');
  expect(pool.report('kid').state).toBe('ready');
});

test('closing ends a warm-up: nothing more is started', async () => {
  const children = Array.from({ length: 100 }, (_, index) => childConfig({ name: `kid${index}` }));
  let starts = 0;
  const { pool } = createFakePool(children, (_config, { cancellation }) => {
    starts++;
    return new Promise((_resolve, reject) =>
      cancellation.listen(() => reject(cancellation.reason)),
    );
  });
  const warmed = pool.warmAll(children.map(({ name }) => name));
  await turn();
  const before = starts;
  await pool[Symbol.asyncDispose]();
  await warmed;
  expect(starts).toBe(before);
  expect(before).toBeLessThan(100);
});

test('a new configuration keeps servers that are only shown differently, and stops the rest', async () => {
  const names = ['same', 'shown', 'changed', 'off', 'gone'];
  const started = new Map<string, FakeChild>();
  const { pool, news } = createFakePool(
    names.map((name) => childConfig({ name })),
    async ({ name }) => {
      const child = new FakeChild();
      started.set(name, child);
      return child;
    },
  );
  for (const name of names) await use(pool, name);
  const first = new Map(started);
  pool.update(
    byName([
      childConfig({ name: 'same' }),
      childConfig({ name: 'shown', show: 'direct', description: 'x', idleMs: 5_000 }),
      childConfig({ name: 'changed', command: { cmd: 'server', args: ['-v'], env: {} } }),
      childConfig({ name: 'off', show: 'off' }),
      childConfig({ name: 'new' }),
    ]),
  );
  await turn();
  const stopped = names.filter((name) => first.get(name)?.stopped);
  expect(stopped).toEqual(['changed', 'off', 'gone']);
  expect(await use(pool, 'same')).toBe(first.get('same'));
  expect(await use(pool, 'changed')).not.toBe(first.get('changed'));
  await use(pool, 'new');
  await expect(use(pool, 'gone')).rejects.toMatchObject({ code: 'CHILD_UNKNOWN' });
  expect(news).toEqual([]);
});

test('a retiring server is read again like the others', async () => {
  const child = new FakeChild();
  const { pool } = createPool(async () => child);
  await use(pool);
  let finish = (): void => {};
  child.busy = new Promise((resolve) => {
    finish = resolve;
  });
  pool.flow.join(host);
  pool.flow.setFull(host, true);
  expect(child.isPaused).toBe(true);
  pool.update(new Map());
  pool.flow.setFull(host, false);
  expect(child.isPaused).toBe(false);
  expect(child.stopped).toBe(false);
  finish();
  await turn();
  expect(child.stopped).toBe(true);
});

test('a server that starts while no host reads is not read either', async () => {
  const { pool } = createPool(async () => new FakeChild());
  pool.flow.join(host);
  pool.flow.setFull(host, true);
  const child = (await use(pool)) as unknown as FakeChild;
  expect(child.isPaused).toBe(true);
  pool.flow.setFull(host, false);
  expect(child.isPaused).toBe(false);
});

test('only servers that work for the slow host alone have to wait', async () => {
  const { pool } = createPool(async () => new FakeChild());
  const slow = {};
  const child = (await use(pool)) as unknown as FakeChild;
  const work = (...parties: object[]): void => {
    child.parties = parties;
    child.onCallsChanged?.();
  };
  pool.flow.join(host);
  pool.flow.join(slow);
  work(slow);
  expect(child.onCallsChanged).toBeUndefined(); // calls cost nothing while every host reads
  expect(child.isPaused).toBe(false);

  pool.flow.setFull(slow, true);
  expect(child.isPaused).toBe(true);
  work(slow, host);
  expect(child.isPaused).toBe(false);
  work(slow);
  expect(child.isPaused).toBe(true);
  // Its news go to every host, and one of them reads.
  work();
  expect(child.isPaused).toBe(false);
  pool.flow.setFull(host, true);
  expect(child.isPaused).toBe(true);

  pool.flow.leave(host);
  pool.flow.leave(slow);
  expect(child.isPaused).toBe(false);
  expect(child.onCallsChanged).toBeUndefined();
});
