import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { Child } from '../../../src/child/child.ts';
import type { LinkEnd } from '../../../src/child/link.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Catalog } from '../../../src/pool/catalog.ts';
import { Pool } from '../../../src/pool/pool.ts';
import type { StartAttempt, StartChild } from '../../../src/pool/slot.ts';
import { childConfig } from '../../support/child-config.ts';

/** A child without a process: what the pool needs of one. */
class FakeChild {
  hasAnswered = true;
  stopped = false;
  calls = 0;
  idleMs = 0;
  tools = [{ name: 'echo' }];
  end: (end: LinkEnd) => void = () => {};
  readonly ended = new Promise<LinkEnd>((resolve) => {
    this.end = resolve;
  });

  async stop(): Promise<void> {
    this.stopped = true;
    this.end({ kind: 'exited', code: 0, signal: null });
  }

  async listTools() {
    return this.tools;
  }

  async settled(): Promise<void> {}

  explainEnd(): Error {
    return new Error('It has ended.');
  }
}

const kid = childConfig({ name: 'kid' });

function createPoolOf(children: readonly ChildConfig[], start: StartChild) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-pool-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const problems: string[] = [];
  const news: string[] = [];
  const catalog = new Catalog(folder, (problem) => problems.push(problem));
  const pool = new Pool(new Map(children.map((child) => [child.name, child])), {
    start,
    catalog,
    events: {
      onToolsChanged: (name) => news.push(`${name} has other tools`),
      onLost: (name) => news.push(`${name} is lost`),
    },
  });
  onTestFinished(() => pool[Symbol.asyncDispose]());
  return { pool, catalog, news, problems };
}

function createPool(
  start: (attempt: StartAttempt, count: number) => Promise<FakeChild>,
  config: ChildConfig = kid,
) {
  const attempts: StartAttempt[] = [];
  const made = createPoolOf([config], async (_config, attempt) => {
    attempts.push(attempt);
    attempt.onStarting();
    return (await start(attempt, attempts.length)) as unknown as Child;
  });
  return { ...made, attempts };
}

const use = async (pool: Pool, name = 'kid') => pool.use(name, new Cancellation());
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('everybody who asks while a child starts gets the same one', async () => {
  const { pool, attempts } = createPool(async () => new FakeChild());
  const [first, second] = await Promise.all([use(pool), use(pool)]);

  expect(first).toBe(second);
  expect(await use(pool)).toBe(first);
  expect(attempts).toHaveLength(1);
});

test('after a child has ended the next use starts a new one', async () => {
  const { pool } = createPool(async () => new FakeChild());
  const first = (await use(pool)) as unknown as FakeChild;
  first.end({ kind: 'exited', code: 1, signal: null });
  await settled();

  expect(await use(pool)).not.toBe(first);
});

test('a failed start is told to all who waited, and tried again by the next use', async () => {
  const { pool } = createPool(async (_attempt, count) => {
    if (count === 1) throw new Error('no luck');
    return new FakeChild();
  });
  const waiting = [use(pool), use(pool)];

  for (const use of waiting) await expect(use).rejects.toThrow('no luck');
  await expect(use(pool)).resolves.toBeInstanceOf(FakeChild);
});

test('five starts in quick succession park the child, and the error says until when', async () => {
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

test('a start that ended in silence is followed by one in the other framing', async () => {
  const { pool, attempts } = createPool(async (_attempt, count) => {
    if (count > 1) return new FakeChild();
    throw new SwitchboardError('CHILD_START_FAILED', 'silence', { data: { silent: true } });
  });
  await use(pool).catch(() => {});
  await use(pool);

  expect(attempts.map(({ framing }) => framing)).toEqual(['newline', 'content-length']);
});

test('who gives up waiting for a start is answered at once; the start goes on for the others', async () => {
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

test('closing stops what runs, calls off what starts, and refuses what comes after', async () => {
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
  await settled();
  await pool[Symbol.asyncDispose]();

  await expect(waiting).rejects.toThrow('shutting down');
  expect(aborted).toBe(true);
  await expect(use(pool)).rejects.toThrow('shutting down');
});

test('an unknown name is an error that names the near ones', async () => {
  const { pool } = createPool(async () => new FakeChild());
  await expect(use(pool, 'kit')).rejects.toMatchObject({
    code: 'CHILD_UNKNOWN',
    hint: 'Did you mean kid?',
  });
});

test('what keeps a child from being started at all is said each time, and never parks it', async () => {
  const { pool } = createPoolOf([kid], async () => {
    throw new SwitchboardError('CHILD_NOT_CONFIGURED', 'no variable');
  });
  for (let time = 0; time < 8; time++) await expect(use(pool)).rejects.toThrow('no variable');
});

test('the next process starts when the one before is gone', async () => {
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
