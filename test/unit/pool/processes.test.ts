// Sessions and their shares of one process, without a real server.
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../src/base/errors.ts';
import type { ChildRequest } from '../../../src/child/conversation/conversation.ts';
import type { Link, LinkEnd } from '../../../src/child/link.ts';
import type { ServerEvents, StartedServer } from '../../../src/child/start.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import type { LogLevel } from '../../../src/mcp/logging.ts';
import { Catalog } from '../../../src/pool/catalog.ts';
import type { Lease, LeaseUser, Move, Tenant } from '../../../src/pool/lease.ts';
import { processIdentity } from '../../../src/pool/process-identity.ts';
import type { Processes, ProcessesOptions } from '../../../src/pool/processes.ts';
import type { LeaseRequest } from '../../../src/pool/shared-server.ts';
import type { StartAttempt } from '../../../src/pool/starter.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { temporaryFolder, turn } from '../../support/fake-child.ts';
import { failureOf } from '../../support/remote-child.ts';
import { createScriptedPeer } from '../../support/scripted-peer.ts';
import { countProcesses, shareProcesses } from '../../support/shared-sessions.ts';

afterEach(() => void vi.useRealTimers());

/** A process that does what the test says. */
class FakeServer implements StartedServer {
  readonly scripted = createScriptedPeer();
  readonly levels: (LogLevel | undefined)[] = [];
  readonly watches: string[][] = [];
  readonly notified: string[] = [];
  readonly hidden: string[] = [];
  isPaused = false;
  isStopped = false;
  /** Watching a resource with this URI fails. */
  refused: string | undefined;
  events!: ServerEvents;
  attempt!: StartAttempt;
  end: (end: LinkEnd) => void = () => {};
  readonly ended = new Promise<LinkEnd>((resolve) => {
    this.end = resolve;
  });
  readonly greeting = {
    era: 'handshake' as const,
    revision: '2025-06-18' as const,
    serverName: undefined,
    serverVersion: undefined,
    capabilities: {},
    instructions: undefined,
  };
  readonly pid: number;

  constructor(pid: number) {
    this.pid = pid;
  }

  get link(): Link {
    const setPaused = (isPaused: boolean): void => {
      this.isPaused = isPaused;
    };
    const stop = async (): Promise<void> => {
      this.isStopped = true;
      this.end({ kind: 'exited', code: 0, signal: null });
    };
    return {
      peer: this.scripted.peer,
      pid: this.pid,
      ended: this.ended,
      hasSpoken: true,
      lastOutput: '',
      mask: (text) => text,
      secrets: this.hidden,
      hide: (values) => void this.hidden.push(...values),
      endOutput: () => {},
      pause: () => setPaused(true),
      resume: () => setPaused(false),
      stop,
    };
  }

  readonly conversation = {
    request: ({ method, params, ...options }: ChildRequest) =>
      this.scripted.peer.request(method, params, options),
    answer: () => Verbatim.of({}),
    receive: () => false,
    notify: (method: string) => void this.notified.push(method),
    setLogLevel: (level: LogLevel | undefined) => void this.levels.push(level),
    watch: async (uris: ReadonlySet<string>) => {
      this.watches.push([...uris].sort());
      if (this.refused !== undefined && uris.has(this.refused))
        throw new Error('No such resource.');
    },
  };
}

interface Session {
  readonly heard: string[];
  readonly printed: string[];
  readonly moves: Move[];
  readonly stopping: Promise<void>[];
  readonly cancellation: Cancellation;
  readonly catalog: Catalog;
  lease(): Promise<Lease>;
}

let servers: FakeServer[];

beforeEach(() => {
  servers = [];
});

type Open = (server: FakeServer, attempt: StartAttempt) => Promise<StartedServer>;

function createSession(
  processes: Processes,
  some: Partial<ChildConfig> = {},
  {
    open = async (server) => server,
    env = {},
    roots,
  }: { open?: Open; env?: Record<string, string>; roots?: string } = {},
): Session {
  const config = childConfig({ name: 'box', framing: 'newline', share: 'user', ...some });
  const catalog = new Catalog(temporaryFolder(), () => {});
  onTestFinished(() => catalog.written());
  const session = processes.openSession();
  const heard: string[] = [];
  const printed: string[] = [];
  const moves: Move[] = [];
  const stopping: Promise<void>[] = [];
  const cancellation = new Cancellation();
  const file = config.stderr === 'log' ? '/logs/box' : undefined;
  const tenant: Tenant = {
    session,
    lingerMs: config.lingerMs,
    maxMemoryMb: config.maxMemoryMb,
    stderr: { write: (line) => void printed.push(line), file },
    onNotification: (method) => void heard.push(method),
    askOutside: async () => Verbatim.of({ session }),
    inputSchemaOf: () => undefined,
    onRootsAsked: () => catalog.rememberRoots(config),
    onAsked: () => catalog.rememberQuestions(config),
    onHeld: () => {},
    onMoved: (move) => void moves.push(move),
    onBug: (error) => {
      throw error;
    },
  };
  const parts = { env, variables: env, project: '/project', home: '/home', session, roots };
  const request: LeaseRequest = {
    identity: processIdentity(config, parts),
    config,
    catalog,
    tenant,
    cancellation,
    preferredEra: 'handshake',
    onStopping: (stopped) => void stopping.push(stopped),
    open: async (_config, attempt) => {
      attempt.onStarting();
      const server = new FakeServer(1_000 + servers.length);
      servers.push(server);
      server.events = attempt;
      server.attempt = attempt;
      return open(server, attempt);
    },
  };
  return {
    heard,
    printed,
    moves,
    stopping,
    cancellation,
    catalog,
    lease: () => processes.lease(request),
  };
}

/** A session's calls in flight. */
const busy = (...parties: object[]): LeaseUser => ({ parties, hasAnswered: true });

function setUp(some: Partial<ChildConfig> = {}, options: Partial<ProcessesOptions> = {}) {
  const processes = shareProcesses(options);
  return { processes, ann: createSession(processes, some), bob: createSession(processes, some) };
}

function only(): FakeServer {
  expect(servers).toHaveLength(1);
  const [server] = servers;
  if (!server) throw new Error('Nothing was started.');
  return server;
}

test('a start in progress is shared, and only the last who waits can cancel it', async () => {
  const processes = shareProcesses();
  const never: Open = (_server, { cancellation }) =>
    new Promise((_resolve, reject) => cancellation.listen(() => reject(cancellation.reason)));
  const [ann, bob] = [
    createSession(processes, {}, { open: never }),
    createSession(processes, {}, { open: never }),
  ];
  const [first, second] = [ann.lease(), bob.lease()];
  await turn();
  const reason = new SwitchboardError('CANCELLED', 'never mind');
  ann.cancellation.cancel(reason);
  await expect(first).rejects.toBe(reason);
  expect(only().attempt.cancellation.reason).toBeUndefined();
  bob.cancellation.cancel(reason);
  await expect(second).rejects.toBe(reason);
  expect(only().attempt.cancellation.reason).toBe(reason);
  expect(bob.stopping).toHaveLength(1);
  await Promise.all(bob.stopping);
});

test('after a cancelled start, the next one waits for its end and succeeds', async () => {
  const processes = shareProcesses();
  let end = (): void => {};
  const slow: Open = (server, { cancellation, onStopping }) => {
    if (servers.length > 1) return Promise.resolve(server);
    return new Promise((_resolve, reject) => {
      const stopped = new Promise<void>((resolve) => {
        end = resolve;
      });
      cancellation.listen(() => {
        onStopping(stopped);
        reject(cancellation.reason);
      });
    });
  };
  const ann = createSession(processes, {}, { open: slow });
  const bob = createSession(processes, {}, { open: slow });
  const first = ann.lease();
  await turn();
  ann.cancellation.cancel(new Error('never mind'));
  await expect(first).rejects.toThrow('never mind');
  const second = bob.lease();
  await turn();
  expect(servers).toHaveLength(1);
  end();
  await second;
  expect(servers).toHaveLength(2);
});

test('a failed start fails for everyone who waits, and the next use tries again', async () => {
  const processes = shareProcesses();
  const once: Open = async (server) => {
    if (servers.length === 1) throw new Error('no luck');
    return server;
  };
  const [ann, bob] = [1, 2].map(() => createSession(processes, {}, { open: once }));
  const waiting = [ann?.lease(), bob?.lease()];
  for (const lease of waiting) await expect(lease).rejects.toThrow('no luck');
  expect(servers).toHaveLength(1);
  await ann?.lease();
  expect(servers).toHaveLength(2);
});

test('the process ends with its last session; each learns how its own share ended', async () => {
  const { ann, bob, processes } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  expect([first.sessions, second.pid]).toEqual([2, 1_000]);
  await first.stop();
  expect(await first.ended).toEqual({ kind: 'released' });
  expect(only().isStopped).toBe(false);
  await second.stop();
  expect(await second.ended).toEqual({ kind: 'exited', code: 0, signal: null });
  expect(only().isStopped).toBe(true);
  expect(countProcesses(processes)).toBe(0);
  await bob.lease();
  expect(servers).toHaveLength(2);
});

test('a session that ends abandons its own requests, and no others', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  const ask = (lease: Lease) => {
    const params = Verbatim.of({ name: 'wait' });
    return lease.request({ method: 'tools/call', params, timeoutMs: 60_000, owner: lease });
  };
  const [mine, theirs] = [ask(first), ask(second)];
  const failed = failureOf(mine);
  await first.stop();
  expect((await failed).message).toContain('released');
  const { scripted } = only();
  expect(scripted.last('notifications/cancelled').params).toMatchObject({ requestId: 1 });
  scripted.receive({ id: 2, result: { done: true } });
  expect((await theirs).value).toEqual({ done: true });
});

test('with lingerMs, the process waits for another session', async () => {
  vi.useFakeTimers();
  const { ann, bob } = setUp({ lingerMs: 5_000 });
  await (await ann.lease()).stop();
  await vi.advanceTimersByTimeAsync(4_000);
  const lease = await bob.lease();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(only().isStopped).toBe(false);
  await lease.stop();
  expect(only().isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(only().isStopped).toBe(true);
});

test('an idle server does not linger', async () => {
  const { ann } = setUp({ lingerMs: 5_000 });
  await (await ann.lease()).stop('idle');
  expect(only().isStopped).toBe(true);
});

test('closing stops a process that lingers', async () => {
  const { ann, processes } = setUp({ lingerMs: 60_000 });
  await (await ann.lease()).stop();
  expect(only().isStopped).toBe(false);
  await processes[Symbol.asyncDispose]();
  expect(only().isStopped).toBe(true);
});

test('the server logs what the most curious session wants', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  first.setLogLevel('warning');
  second.setLogLevel('debug');
  first.setLogLevel('error');
  expect(only().levels).toEqual(['warning', 'debug']);
  await second.stop();
  expect(only().levels).toEqual(['warning', 'debug', 'error']);
});

test('the server watches what any session watches', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  await first.watch(new Set());
  await second.watch(new Set());
  await first.watch(new Set(['a:1']));
  await second.watch(new Set(['a:1', 'a:2']));
  await first.watch(new Set());
  expect(only().watches).toEqual([[], ['a:1'], ['a:1', 'a:2']]);
  await second.stop();
  expect(only().watches.at(-1)).toEqual([]);
});

test('a resource that one session cannot watch does not disturb another', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  only().refused = 'a:gone';
  await second.watch(new Set(['a:2']));
  await expect(second.watch(new Set(['a:2', 'a:gone']))).rejects.toThrow('No such resource.');
  await first.watch(new Set(['a:1']));
  expect(only().watches.at(-1)).toEqual(['a:1', 'a:2']);
});

test('notifications reach every session', async () => {
  const { ann, bob } = setUp();
  await ann.lease();
  await bob.lease();
  only().events.onNotification('notifications/tools/list_changed', undefined);
  expect([ann.heard, bob.heard]).toEqual([
    ['notifications/tools/list_changed'],
    ['notifications/tools/list_changed'],
  ]);
});

test('a server is paused only if everyone it works for is behind', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  const server = only();
  // Without calls, its news go to everyone.
  first.pause();
  expect(server.isPaused).toBe(false);
  expect([first.isHeld, second.isHeld]).toEqual([true, true]);
  second.pause();
  expect(server.isPaused).toBe(true);
  second.resume();
  expect(server.isPaused).toBe(false);
  // It works for the slow one only.
  first.user = busy(first);
  first.pause();
  expect(server.isPaused).toBe(true);
  // Now also for the other one.
  second.user = busy(second);
  second.resume();
  expect(server.isPaused).toBe(false);
  second.user = busy();
  second.resume();
  expect(server.isPaused).toBe(true);
  // A session that joins takes its output as well.
  first.user = busy();
  await second.stop();
  expect(server.isPaused).toBe(true);
  await bob.lease();
  expect(server.isPaused).toBe(false);
});

test('a slow session that ends lets the others continue', async () => {
  const { ann, bob } = setUp();
  const [first, second] = [await ann.lease(), await bob.lease()];
  first.user = busy(first);
  first.pause();
  expect(only().isPaused).toBe(true);
  await first.stop();
  expect(only().isPaused).toBe(false);
  expect(second.isHeld).toBe(false);
});

test('stderr goes to the sessions with calls, or to all, and once to a file', async () => {
  const { ann, bob } = setUp();
  const [first] = [await ann.lease(), await bob.lease()];
  const { events } = only();
  events.onStderr('hello');
  first.user = busy(first);
  events.onStderr('for Ann');
  expect(ann.printed).toEqual(['hello', 'for Ann']);
  expect(bob.printed).toEqual(['hello']);
});

test('a file gets each line of stderr once', async () => {
  const { ann, bob } = setUp({ stderr: 'log' });
  await ann.lease();
  await bob.lease();
  only().events.onStderr('hello');
  expect([...ann.printed, ...bob.printed]).toEqual(['hello']);
});

test('those who wait for a start get its output', async () => {
  const processes = shareProcesses();
  const fails: Open = async ({ events }) => {
    events.onStderr('no such file');
    throw new Error('no luck');
  };
  const ann = createSession(processes, {}, { open: fails });
  await expect(ann.lease()).rejects.toThrow('no luck');
  expect(ann.printed).toEqual(['no such file']);
});

test('a crash ends every share, and counts once', async () => {
  const { ann, bob } = setUp();
  const leases = [await ann.lease(), await bob.lease()];
  const end = { kind: 'exited', code: 1, signal: null } as const;
  only().end(end);
  expect(await Promise.all(leases.map(({ ended }) => ended))).toEqual([end, end]);
  await ann.lease();
  await bob.lease();
  expect(servers).toHaveLength(2);
});

test('five quick starts park the server for every session', async () => {
  const processes = shareProcesses();
  const fails: Open = async () => {
    throw new Error('no luck');
  };
  const sessions = [1, 2, 3].map(() => createSession(processes, {}, { open: fails }));
  const errors: string[] = [];
  for (let time = 0; time < 7; time++) {
    const session = sessions[time % 3];
    await session?.lease().catch((error: Error) => errors.push(error.message));
  }
  expect(servers).toHaveLength(5);
  expect(errors.slice(5)).toEqual([
    expect.stringContaining('parked until'),
    expect.stringContaining('parked until'),
  ]);
});

test('a server that asks for roots keeps only the first of its sessions', async () => {
  const { ann, bob, processes } = setUp();
  await ann.lease();
  const second = await bob.lease();
  only().events.onRootsAsked?.();
  expect(ann.moves).toEqual([]);
  expect(bob.moves).toMatchObject([{ why: 'roots' }]);
  await second.stop('moved');
  const config = childConfig({ name: 'box', framing: 'newline', share: 'user' });
  expect(bob.catalog.get(config).asksForRoots).toBe(true);
  // Others get a process of their own; the first one comes back to its own.
  const third = await createSession(processes).lease();
  expect(third.pid).toBe(1_001);
  expect((await ann.lease()).pid).toBe(1_000);
});

test('a server that asks for roots during a call keeps the session that called', async () => {
  const { ann, bob } = setUp();
  await ann.lease();
  const second = await bob.lease();
  second.user = busy(second);
  only().events.onRootsAsked?.();
  expect(ann.moves).toMatchObject([{ why: 'roots' }]);
  expect(bob.moves).toEqual([]);
  expect((await bob.lease()).pid).toBe(1_000);
});

test('sessions with equal roots share a server that asks for them', async () => {
  const processes = shareProcesses();
  const open = (roots: string) => createSession(processes, {}, { roots });
  const [ann, bob, cid] = [open('[a]'), open('[a]'), open('[b]')];
  const pids = [await ann.lease(), await bob.lease(), await cid.lease()].map(({ pid }) => pid);
  expect(pids).toEqual([1_000, 1_000, 1_001]);
  servers[0]?.events.onRootsAsked?.();
  expect([ann.moves, bob.moves]).toEqual([[], []]);
  const question = { method: 'roots/list', params: undefined, cancellation: new Cancellation() };
  const answer = await servers[0]?.events.askOutside(question as never);
  expect(answer?.value).toEqual({ session: 1 });
});

test('a session whose roots change leaves a server that others share', async () => {
  const processes = shareProcesses();
  const open = () => createSession(processes, {}, { roots: '[a]' });
  const [ann, bob] = [open(), open()];
  const [first, second] = [await ann.lease(), await bob.lease()];
  first.notify('notifications/roots/list_changed');
  expect(ann.moves).toEqual([]); // it has never asked
  only().events.onRootsAsked?.();
  first.notify('notifications/roots/list_changed');
  expect(ann.moves).toMatchObject([{ why: 'roots' }]);
  expect(only().notified).toEqual([]);
  await first.stop('moved');
  second.notify('notifications/roots/list_changed');
  expect(only().notified).toEqual(['notifications/roots/list_changed']);
  expect((await open().lease()).pid).toBe(1_001);
});

test('a server above its memory limit is restarted between calls', async () => {
  vi.useFakeTimers();
  const memory = new Map([[1_000, 600 << 20]]);
  const { ann, bob } = setUp({ maxMemoryMb: 512 }, { measureMemory: async () => memory });
  const [first, second] = [await ann.lease(), await bob.lease()];
  first.user = busy(first);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(ann.moves).toEqual([]); // it is busy
  first.user = busy();
  await vi.advanceTimersByTimeAsync(5_000);
  const message =
    'Server "box" used 600 MB of memory, more than its limit of 512 MB. It restarts the next time it\'s used.';
  expect([ann.moves, bob.moves]).toEqual([
    [{ why: 'memory', message }],
    [{ why: 'memory', message }],
  ]);
  // The next process doesn't start before this one has ended.
  const next = ann.lease();
  await vi.advanceTimersByTimeAsync(100);
  expect(servers).toHaveLength(1);
  await first.stop('moved');
  await second.stop('moved');
  expect((await next).pid).toBe(1_001);
  expect(servers[0]?.isStopped).toBe(true);
});

test('a server that is never idle is restarted after its calls, and later ones wait', async () => {
  vi.useFakeTimers();
  const memory = new Map([[1_000, 600 << 20]]);
  const { ann } = setUp({ maxMemoryMb: 512 }, { measureMemory: async () => memory });
  const first = await ann.lease();
  first.user = busy(first);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(ann.moves).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ann.moves).toMatchObject([{ why: 'memory' }]);
  const next = ann.lease();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([servers.length, servers[0]?.isStopped]).toEqual([1, false]);
  await first.stop('moved');
  expect((await next).pid).toBe(1_001);
});

test('above the limit for all servers, the largest is restarted', async () => {
  vi.useFakeTimers();
  const memory = new Map([
    [1_000, 300 << 20],
    [1_001, 400 << 20],
  ]);
  const processes = shareProcesses({ measureMemory: async () => memory });
  const [small, large] = [
    createSession(processes, { name: 'small' }),
    createSession(processes, { name: 'large' }),
  ];
  await small.lease();
  await large.lease();
  processes.limitMemory(7, 1_000);
  processes.limitMemory(8, 650);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(small.moves).toEqual([]);
  expect(large.moves[0]?.message).toContain('all servers 700 MB, more than the limit of 650 MB');
  processes.limitMemory(8, undefined);
});

test('without a limit, nothing is measured', async () => {
  vi.useFakeTimers();
  const measureMemory = vi.fn(async () => new Map<number, number>());
  const { ann } = setUp({}, { measureMemory });
  await ann.lease();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(measureMemory).not.toHaveBeenCalled();
});
