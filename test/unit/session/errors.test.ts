// What a host is told when a server fails at something else than a call of a tool, and what a server is
// told when a host does: the sentence for it, and not that somebody else has failed.
import { describe, expect, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { META, MODERN_REVISION } from '../../../src/mcp/eras.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Parking } from '../../../src/session/parking.ts';
import { StateSeal } from '../../../src/session/request-state.ts';
import { Session } from '../../../src/session/session.ts';
import type { Surface } from '../../../src/surface/surface.ts';
import { EMPTY_SURFACE } from '../../support/empty-surface.ts';

const failure = new SwitchboardError('CHILD_EXITED', 'The server has ended.', { hint: 'Again.' });

/** Shows nothing, and fails at whatever it is asked. */
const failing: Surface = {
  ...EMPTY_SURFACE,
  callTool: () => Promise.reject(failure),
  ask: () => Promise.reject(failure),
  watch: () => Promise.reject(failure),
};

function openSession({ surface = failing, questionMs = 1_000 } = {}) {
  const bugs: string[] = [];
  const sent: unknown[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  const silent = () => {};
  const error = (bug: string) => void bugs.push(bug);
  const session = new Session({
    openSurface: () => surface,
    log: { debug: silent, info: silent, warn: silent, error, child: silent },
    send: (json) => {
      const message: unknown = JSON.parse(json);
      const take = waiting.shift();
      if (take) take(message);
      else sent.push(message);
    },
    onReady: silent,
    eras: () => 'both',
    seal: new StateSeal(),
    parking: new Parking(),
    questionMs: () => questionMs,
    onRootsChanged: silent,
  });
  /** The next message that the host is sent. */
  const next = () =>
    new Promise((resolve) => {
      if (sent.length > 0) resolve(sent.shift());
      else waiting.push(resolve);
    });
  /** Asks; gives what comes next. */
  const ask = (method: string, params: object) => {
    const value = { jsonrpc: '2.0', id: 1, method, params };
    session.receive({ text: Verbatim.of(value).text, value, framing: 'newline' });
    return next();
  };
  return { session, ask, next, bugs };
}

const told = {
  code: -32000,
  message: 'The server has ended. Again.',
  data: { code: 'CHILD_EXITED' },
};

describe.each([
  {
    era: 'handshake',
    _meta: {},
    methods: ['prompts/get', 'resources/read', 'resources/subscribe'],
  },
  {
    era: 'modern',
    _meta: { [META.version]: MODERN_REVISION, [META.capabilities]: {} },
    methods: ['prompts/get', 'resources/read', 'completion/complete'],
  },
])('a host of the $era era', ({ _meta, methods }) => {
  test.each(methods)('learns why %s has failed', async (method) => {
    const { ask, bugs } = openSession();
    expect(await ask(method, { name: 'p', uri: 'a:1', _meta })).toMatchObject({ error: told });
    expect(bugs).toEqual([]);
  });
});

test('an unanswered question is refused to its server in time', async () => {
  const outcomes: unknown[] = [];
  const asking: Surface = {
    ...failing,
    ask: async (_method, _params, { caller, cancellation }) => {
      const question = { method: 'roots/list', params: undefined, cancellation } as const;
      outcomes.push(await caller?.ask(question).catch((error: unknown) => error));
      return Verbatim.of({});
    },
  };
  const { ask, next } = openSession({ surface: asking, questionMs: 10 });
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} } });
  expect(await ask('resources/read', { uri: 'a:1' })).toMatchObject({ method: 'roots/list' });
  expect(await next()).toMatchObject({ method: 'notifications/cancelled' });
  expect(await next()).toMatchObject({ result: {} });
  const message = 'The question was not answered in time.';
  expect(outcomes).toEqual([expect.objectContaining({ name: 'RpcError', message })]);
});

test('a question whose answer exceeds a limit fails at once', async () => {
  const outcomes: unknown[] = [];
  const asking: Surface = {
    ...failing,
    ask: async (_method, _params, { caller, cancellation }) => {
      const question = { method: 'roots/list', params: undefined, cancellation } as const;
      outcomes.push(await caller?.ask(question).catch((error: unknown) => error));
      return Verbatim.of({});
    },
  };
  const { session, ask, next } = openSession({ surface: asking, questionMs: 600_000 });
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} } });
  const { id } = (await ask('resources/read', { uri: 'a:1' })) as { id: number };
  session.receiveOversize({
    limit: { name: 'depth', most: 1_000 },
    bytesSoFar: 100_000,
    head: `{"jsonrpc":"2.0","id":${id},"result":[[[[`,
    tail: ']]]]}',
    complete: true,
    framing: 'newline',
  });
  expect(await next()).toMatchObject({ result: {} });
  const message = 'A message may nest at most 1000 levels deep (limits.depth).';
  expect(outcomes).toEqual([expect.objectContaining({ name: 'RpcError', message })]);
});
