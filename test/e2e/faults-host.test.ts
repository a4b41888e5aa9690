// Part G of the faults: hosts that send what they should not.
import { expect, test } from 'vitest';
import { type Trial, until, withFaults } from '../support/faults.ts';
import { createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';

const LIMIT = 16 << 20;

const suiteCall = (args: string) =>
  `"params":{"name":"calm_suite","arguments":{"action":"call","subtool":"args","args":${args}}}`;

/** Writes to the program what is no request, and gives what it answers, beside a ping. */
async function answersTo(trial: Trial, bytes: string | Buffer): Promise<unknown[]> {
  const { host } = trial;
  const before = host.messages.length;
  host.write(bytes);
  const { id } = await host.request('ping');
  return host.messages.slice(before).filter((message) => message['id'] !== id);
}

const INVALID_JSON = {
  'a stray comma': '{"jsonrpc":"2.0",,"id":1}',
  'a cut message': '{"jsonrpc":"2.0","id":1,"method":"tools/li',
};

test.for(Object.entries(INVALID_JSON))('%s is answered as invalid JSON', ([, line]) =>
  withFaults({}, async (trial) => {
    const error = { code: -32700, message: 'The message is not valid JSON.' };

    expect(await answersTo(trial, `${line}\n`)).toEqual([{ jsonrpc: '2.0', id: null, error }]);
  }),
);

test('input that does not look like JSON is ignored, and the next message is read', () =>
  withFaults({}, async (trial) => {
    const noise = Buffer.concat([Buffer.from('hello\n'), Buffer.from([0xff, 0xfe, 0x80, 0x0a])]);

    expect(await answersTo(trial, noise)).toEqual([]);
  }));

test.for([
  'null',
  '42',
  '"text"',
  'true',
  '{}',
  '{"id":null}',
  '{"jsonrpc":"2.0","id":null,"method":"ping"}',
])('%s is answered as an invalid request', (line) =>
  withFaults({}, async (trial) => {
    const answers = await answersTo(trial, `${line}\n`);

    expect(answers).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code: -32600 } }]);
  }),
);

test('blank lines and NULs are not messages', () =>
  withFaults({}, async (trial) => {
    expect(await answersTo(trial, '\n\n\r\n \t\n\u0000\u0000\n')).toEqual([]);
  }));

test.for(['"jsonrpc":"1.0",', ''])(
  'a request that starts with {%s is refused under its id',
  (version) =>
    withFaults({}, async (trial) => {
      const answers = await answersTo(trial, `{${version}"id":"old","method":"ping"}\n`);

      expect(answers).toMatchObject([{ jsonrpc: '2.0', id: 'old', error: { code: -32600 } }]);
    }),
);

test('a batch is refused in revisions without batches', () =>
  withFaults({}, async (trial) => {
    const ping = '{"jsonrpc":"2.0","id":"in a batch","method":"ping"}';

    for (const batch of ['[]', `[${ping}]`, `[${ping},${ping}]`, '[1]']) {
      const answers = await answersTo(trial, `${batch}\n`);
      expect(answers).toMatchObject([{ id: null, error: { code: -32600 } }]);
    }
  }));

test('a batch of deep and broken messages is answered in the revision with batches', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    await host.request('initialize', { protocolVersion: '2025-03-26', capabilities: {} });
    const ping = (id: number, params: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"ping","params":${params}}`;
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);

    host.write(`[1,{},{"id":1000},${ping(1001, '{}')},${ping(1002, deep)}]\n`);
    await until(() => host.messages.some(Array.isArray), 'it is answered');

    const batch = host.messages.find(Array.isArray);
    expect(batch).toMatchObject([
      { id: null },
      { id: null },
      { id: 1000, error: { code: -32_600 } },
      { id: 1001 },
      { id: 1002 },
    ]);
  }));

test('odd ids come back exactly as sent', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    const ids = [
      2 ** 53 - 1,
      -1,
      0,
      1.5,
      1e21,
      'text',
      'x'.repeat(10_000),
      '🚀',
      '__proto__',
      'constructor',
      '',
      '7',
      '\ud83d',
    ];
    for (const id of ids) {
      const answer = await host.request('tools/list', {}, id);
      expect(answer.id).toBe(id);
      expect(answer.result?.['tools']).toHaveLength(1);
    }
  }));

test('a number that JavaScript cannot represent comes back exactly as sent', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    host.write('{"jsonrpc":"2.0","id":12345678901234567891,"method":"ping"}\n');
    await host.request('ping');

    expect(host.texts).toContain('{"jsonrpc":"2.0","id":12345678901234567891,"result":{}}');
  }));

test.for(['{"a":1}', '[1]', 'true', '1e400'])('a request with the id %s is refused', (id) =>
  withFaults({}, async (trial) => {
    const answers = await answersTo(trial, `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);

    expect(answers).toMatchObject([{ id: null, error: { code: -32600 } }]);
  }),
);

test('the number 1 and the text "1" are two ids', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const calls = [
      host.call('kid', 'echo', { text: 'number' }, 7001),
      host.call('calm', 'echo', { text: 'text' }, '7001'),
    ];

    expect((await Promise.all(calls)).map(textOf)).toEqual(['number', 'text']);
  }));

test('two requests with the same id are both answered, and do not end each other', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    void host.call('kid', 'sleep', { ms: 1_500 }, 7002);
    void host.call('kid', 'echo', { text: 'the second' }, 7002);
    const answers = () => host.messages.filter(({ id }) => id === 7002);
    await until(() => answers().length === 2, 'both are answered');

    const texts = answers().map((answer) => textOf({ id: 7002, ...answer }));
    expect(texts).toEqual(['the second', 'slept 1500']);
  }));

test.for(['arguments', '_meta', 'params', 'message'])(
  'a request whose %s nests 100,000 deep is refused under its id',
  (place) =>
    withFaults({}, async (trial) => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      const requests = {
        arguments: `"method":"tools/call",${suiteCall(`{"deep":${deep}}`)}`,
        _meta: `"method":"tools/call",${suiteCall('{}').replace('{', `{"_meta":{"deep":${deep}},`)}`,
        params: `"method":"tools/call","params":${deep}`,
        message: `"method":"ping","deep":${deep}`,
      };
      const request = requests[place as keyof typeof requests];
      trial.host.write(`{"jsonrpc":"2.0","id":"deep",${request}}\n`);

      const answers = () => trial.host.messages.filter(({ id }) => id === 'deep');
      await until(() => answers().length > 0, 'it is answered');
      const message = 'A message may nest at most 1000 levels deep (limits.depth).';
      expect(answers()).toMatchObject([{ error: { code: -32600, message } }]);
    }),
);

test('members named __proto__ and constructor reach the server and change nothing', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    const args = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"x":1}';
    const hostile = '"__proto__":{"polluted":1},"constructor":{"polluted":1},';
    const params = suiteCall(args).replace('{', `{${hostile}"_meta":{${hostile}"a":1},`);
    host.write(`{${hostile}"jsonrpc":"2.0","id":"hostile","method":"tools/call",${params}}\n`);
    await until(() => host.messages.some(({ id }) => id === 'hostile'), 'it is answered');

    const answer = host.messages.find(({ id }) => id === 'hostile');
    expect(textOf({ id: 'hostile', ...answer })).toBe(args);
    expect(JSON.stringify(await host.request('tools/list'))).not.toContain('polluted');
  }));

test('member names are compared exactly, and the last duplicate counts', () =>
  withFaults({}, async (trial) => {
    const [foreign] = await answersTo(trial, '{"jsonrpc":"2.0","id":1001,"Method":"ping"}\n');
    expect(foreign).toMatchObject({ id: 1001, error: { code: -32600 } });

    const params = suiteCall('{"n":1},"args":{"n":2}').replace('"params"', '"paramſ":{},"params"');
    trial.host.write(
      `{"jsonrpc":"2.0","id":1002,"method":"ping","method":"tools/call","params":{},${params}}\n`,
    );
    await until(() => trial.host.messages.some(({ id }) => id === 1002), 'it is answered');
    const answer = trial.host.messages.find(({ id }) => id === 1002);
    expect(textOf({ id: 1002, ...answer })).toBe('{"n":2}');
  }));

test.for(['first', 'last'])(
  'an oversized request with its id %s is refused under this id',
  (place) =>
    withFaults({}, async (trial) => {
      const text = 'x'.repeat(LIMIT + (4 << 20));
      const call = `"method":"tools/call",${suiteCall(`{"text":"${text}"}`)}`;
      const line =
        place === 'first' ? `"jsonrpc":"2.0","id":8,${call}` : `${call},"jsonrpc":"2.0","id":8`;

      const answers = await answersTo(trial, `{${line}}\n`);

      expect(answers).toMatchObject([{ id: 8, error: { code: -32600 } }]);
      const [{ error }] = answers as [{ error: { message: string } }];
      expect(error.message).toMatch(/^The message has \d+ bytes; the limit is 16777216/);
    }),
);

test.for([
  ['ping', { result: {} }],
  ['tools/list', { result: { tools: [] } }],
  ['tools/call', { error: { code: -32602 } }],
] as const)('%s before initialize is answered', async ([method, expected]) => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: {} } });
  const host = new RawHost(project);
  expect(await host.request(method, { name: 'none_suite' })).toMatchObject(expected);
  expect(await host.close()).toEqual({ code: 0, signal: null });
  expect(host.impure).toEqual([]);
});

test('a second initialize is answered, and calls continue', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    const call = host.call('calm', 'sleep', { ms: 300 });

    const again = await host.request('initialize', { protocolVersion: '2024-11-05' });

    expect(again.result).toMatchObject({ protocolVersion: '2024-11-05' });
    expect(textOf(await call)).toBe('slept 300');
  }));

test('cancelling an unknown, finished or invalid request has no effect', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    const done = await host.call('calm', 'echo', { text: 'done' });
    const before = host.messages.length;
    for (const requestId of [done.id, 'unknown', 1.5, null, {}, undefined]) {
      host.notify('notifications/cancelled', { requestId });
    }
    host.notify('notifications/cancelled');
    host.notify('notifications/unheard-of', { deep: [] });
    host.write('{"jsonrpc":"2.0","id":"nobody asked","result":{}}\n');
    host.write('{"jsonrpc":"2.0","id":"nobody asked","error":{"code":1,"message":"no"}}\n');

    await trial.askNeighbour();
    expect(host.messages).toHaveLength(before + 1);
  }));

test('an unknown tool, action, subtool and method each have their own error', () =>
  withFaults({}, async (trial) => {
    const { host } = trial;
    const callTool = (name: unknown, args: unknown) =>
      host.request('tools/call', { name, arguments: args });

    const ghost = await callTool('ghost_suite', { action: 'introspect' });
    expect(ghost.error).toMatchObject({ code: -32602 });
    for (const args of [{ action: 'explode' }, {}, { action: 'call' }, { action: 7 }]) {
      expect(await callTool('calm_suite', args)).toMatchObject({ result: { isError: true } });
    }
    for (const args of [null, 7, 'text', []]) {
      expect((await callTool('calm_suite', args)).error).toMatchObject({ code: -32602 });
    }
    expect(trial.failure(await host.call('calm', 'ech'))).toContain('Did you mean "echo"');
    expect((await host.request('no/such/method')).error).toMatchObject({ code: -32601 });
  }));

test('a host that stops reading answers counts as gone', () =>
  withFaults({ kid: { faults: ['stubborn'] } }, async (trial) => {
    const { host } = trial;
    await host.call('kid', 'echo');

    const exit = await trial.end(() => {
      host.process.stdout?.destroy();
      host.notify('notifications/initialized');
      void host.request('ping');
    });

    expect(exit).toEqual({ code: 0, signal: null });
  }));

test('a host that closes our stderr is still served', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    host.process.stderr?.destroy();

    for (let n = 0; n < 3; n++) {
      const print = { before: `line ${n}\n`, to: 'stderr' };
      expect(textOf(await host.call('kid', 'print', print))).toBe('printed');
    }
  }));
