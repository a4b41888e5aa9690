// What a host is told when a server fails at something else than a call of a tool: the sentence for it,
// and not that Switchboard has a bug.
import { describe, expect, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import { META, MODERN_REVISION } from '../../../src/mcp/eras.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Parking } from '../../../src/session/parking.ts';
import { StateSeal } from '../../../src/session/request-state.ts';
import { Session } from '../../../src/session/session.ts';
import type { Surface } from '../../../src/surface/surface.ts';

const failure = new SwitchboardError('CHILD_EXITED', 'The server has ended.', { hint: 'Again.' });

/** Shows nothing, and fails at whatever it is asked. */
const failing: Surface = {
  instructions: '',
  active: [],
  listTools: () => [],
  listPrompts: () => [],
  listResources: () => [],
  listTemplates: () => [],
  callTool: () => Promise.reject(failure),
  ask: () => Promise.reject(failure),
  watch: () => Promise.reject(failure),
  setLogLevel: () => {},
  close: () => {},
};

function openSession() {
  const bugs: string[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  const silent = () => {};
  const error = (bug: string) => void bugs.push(bug);
  const session = new Session({
    openSurface: () => failing,
    log: { debug: silent, info: silent, warn: silent, error, child: silent },
    messageBytes: 1 << 20,
    send: (json) => waiting.shift()?.(JSON.parse(json)),
    onReady: silent,
    eras: () => 'both',
    seal: new StateSeal(),
    parking: new Parking(),
    questionMs: () => 1_000,
    onRootsChanged: silent,
  });
  const ask = (method: string, params: object) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      const value = { jsonrpc: '2.0', id: 1, method, params };
      session.receive({ text: Verbatim.of(value).text, value, framing: 'newline' });
    });
  return { ask, bugs };
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
  test.each(methods)('is told why %s has failed', async (method) => {
    const { ask, bugs } = openSession();
    expect(await ask(method, { name: 'p', uri: 'a:1', _meta })).toMatchObject({ error: told });
    expect(bugs).toEqual([]);
  });
});
