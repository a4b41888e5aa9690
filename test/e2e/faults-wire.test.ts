// Part C of the faults: servers whose answers are not what they should be.
import { expect, test } from 'vitest';
import { answerLine, until, withFaults } from '../support/faults.ts';
import { type Answer, type RawHost, textOf } from '../support/raw-host.ts';

/** Deeper than many a JSON writer's stack, and small enough for no limit to apply. */
const DEEP = '['.repeat(30_000) + ']'.repeat(30_000);

/** Has the server print this in place of an answer. `%ID%` is the id of the call. */
function print(host: RawHost, before: string, more: object = {}): Promise<Answer> {
  return host.call('kid', 'print', { before, ...more });
}

test('noise around an answer is harmless', () =>
  withFaults({ kid: {} }, async (trial) => {
    const noise = [
      'listening on stdio',
      '',
      '\u001b[32m[info]\u001b[0m ready {"level":"info"}',
      '{"level":"info","msg":"a log line in JSON"}',
      '{"half": ',
      '}{][ "quote',
      'null',
      '42',
    ].join('\n');

    const answer = await print(trial.host, `${noise}\n${answerLine('clear')}${noise}\n`);

    expect(textOf(answer)).toBe('clear');
    expect(textOf(await print(trial.host, answerLine('still clear')))).toBe('still clear');
  }));

test('noise instead of an answer times out', () =>
  withFaults({ kid: { rpcTimeoutMs: 1_000 } }, async (trial) => {
    const answer = await print(trial.host, 'thinking about it\n');

    expect(trial.failure(answer)).toContain('did not respond within 1000 ms (subtool "print")');
  }));

test('the first of two answers counts, and the second is dropped', () =>
  withFaults({ kid: {} }, async (trial) => {
    for (let call = 0; call < 5; call++) {
      const first = `first ${call}`;
      const answer = await print(trial.host, answerLine(first) + answerLine(`second ${call}`));
      expect(textOf(answer)).toBe(first);
    }
  }));

test('an answer with an unknown id answers neither of two calls', () =>
  withFaults({ kid: { rpcTimeoutMs: 1_000 } }, async (trial) => {
    const { host } = trial;
    const wrong = answerLine('whose?').replace('%ID%', '123456');
    const answers = await Promise.all([print(host, wrong), print(host, wrong)]);

    for (const answer of answers) expect(trial.failure(answer)).toContain('within 1000 ms');
  }));

test('a stray answer before the right one is ignored', () =>
  withFaults({ kid: {} }, async (trial) => {
    const stray = answerLine('stray').replace('%ID%', '"%ID%-not"');

    expect(textOf(await print(trial.host, stray + answerLine('right')))).toBe('right');
  }));

test('an answer with both a result and an error is an error', () =>
  withFaults({ kid: {} }, async (trial) => {
    const both = answerLine('fine').replace(
      '"result"',
      '"error":{"code":-32050,"message":"not fine"},"result"',
    );

    const answer = await print(trial.host, both);

    expect(answer.error).toMatchObject({
      code: -32050,
      message: expect.stringMatching(/^not fine/),
    });
  }));

test('an answer without "jsonrpc" is accepted', () =>
  withFaults({ kid: {} }, async (trial) => {
    const bare = answerLine('understood').replace('"jsonrpc":"2.0",', '');

    expect(textOf(await print(trial.host, bare))).toBe('understood');
  }));

test('a null result is a server failure', () =>
  withFaults({ kid: {} }, async (trial) => {
    const answer = await print(trial.host, '{"jsonrpc":"2.0","id":%ID%,"result":null}\n');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" returned an invalid result for subtool "print": null"`,
    );
  }));

test('an answer with neither a result nor an error is a server failure', () =>
  withFaults({ kid: {} }, async (trial) => {
    const answer = await print(trial.host, '{"jsonrpc":"2.0","id":%ID%}\n');

    expect(answer.error).toMatchInlineSnapshot(`
      {
        "code": -32603,
        "message": "The response has neither a result nor an error. (server "kid", subtool "print")",
      }
    `);
  }));

test.for(['7', '"text"', '{}', '[null]', '[{"text":"no type"}]'])(
  'a result whose content is %s is a server failure',
  (content) =>
    withFaults({ kid: {} }, async (trial) => {
      const line = `{"jsonrpc":"2.0","id":%ID%,"result":{"content":${content}}}\n`;

      const failure = trial.failure(await print(trial.host, line));

      expect(failure).toContain('Server "kid" returned an invalid result for subtool "print"');
    }),
);

test('an answer inside an array is accepted', () =>
  withFaults({ kid: {} }, async (trial) => {
    const line = `[${answerLine('first of all').trim()},{"jsonrpc":"2.0","method":"notifications/x"}]\n`;

    expect(textOf(await print(trial.host, line))).toBe('first of all');
  }));

test('CRLF and a byte order mark are accepted', () =>
  withFaults({ kid: {} }, async (trial) => {
    const line = `\r\n\ufeff${answerLine('marked').replace('\n', '\r\n')}`;

    expect(textOf(await print(trial.host, line))).toBe('marked');
  }));

test('an answer that arrives byte by byte keeps every character', () =>
  withFaults({ kid: {} }, async (trial) => {
    const text = 'é漢🚀 \u2028 "quoted" \\ end';

    expect(textOf(await print(trial.host, answerLine(text), { bytewise: true }))).toBe(text);
  }));

test('a result with 30,000 levels is answered', () =>
  withFaults({ kid: {} }, async (trial) => {
    const line = answerLine('deep').replace('"result":{', `"result":{"deep":${DEEP},`);

    expect(textOf(await print(trial.host, line))).toBe('deep');
  }));

test('error data with 30,000 levels is answered', () =>
  withFaults({ kid: {} }, async (trial) => {
    const error = `{"code":-32050,"message":"deep","data":${DEEP}}`;

    const answer = await print(trial.host, `{"jsonrpc":"2.0","id":%ID%,"error":${error}}\n`);

    expect(answer.error?.code).toBe(-32050);
  }));

test('an array around a result with 30,000 levels is answered', () =>
  withFaults({ kid: {} }, async (trial) => {
    const line = answerLine('deep').replace('"result":{', `"result":{"deep":${DEEP},`);

    expect(textOf(await print(trial.host, `[${line.trim()}]\n`))).toBe('deep');
  }));

test('progress with 30,000 levels is harmless', () =>
  withFaults({ kid: {} }, async (trial) => {
    const params = `{"progressToken":%TOKEN%,"progress":1,"deep":${DEEP}}`;
    const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n`;
    const args = { before: progress + answerLine('after it') };

    const answer = await trial.host.request('tools/call', {
      name: 'kid_suite',
      arguments: { action: 'call', subtool: 'print', args },
      _meta: { progressToken: 'mine' },
    });

    expect(textOf(answer)).toBe('after it');
  }));

test('a tool list with 30,000 levels is answered', () =>
  withFaults(
    { kid: { faults: ['list=tools.json'] } },
    async (trial) => {
      const answer = await trial.host.introspect('kid');

      expect(textOf(answer)).toContain('"deep"');
      expect(textOf(await trial.host.call('kid', 'echo', { text: 'sound' }))).toBe('sound');
    },
    { files: { 'tools.json': `[{"name":"deep","inputSchema":{"type":"object","d":${DEEP}}}]` } },
  ));

test('members named __proto__ and constructor change nothing but themselves', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const hostile =
      '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"isError":false,';
    const line = answerLine('harmless')
      .replace('"result":{', `"result":{${hostile}`)
      .replace('{', `{${hostile}`);

    expect(textOf(await print(host, line))).toBe('harmless');
    const list = await host.request('tools/list');
    expect(list.result?.['tools']).toHaveLength(2);
    expect(JSON.stringify(list)).not.toContain('polluted');
  }));

test('the last duplicate member counts, both for matching and forwarding', () =>
  withFaults({ kid: {} }, async (trial) => {
    const first = '"id":987654,"result":{"content":[{"type":"text","text":"first"}]},';
    const line = answerLine('last').replace('"id"', `${first}"id"`);

    const answer = await print(trial.host, line);

    expect(answer.result).toEqual({ content: [{ type: 'text', text: 'last' }] });
  }));

test('a server that uses Content-Length headers works from its first use', () =>
  withFaults(
    { kid: { faults: ['content-length'] } },
    async (trial) => {
      const { host } = trial;
      for (const text of ['headers', 'é漢🚀']) {
        expect(textOf(await host.call('kid', 'echo', { text }))).toBe(text);
      }
      // What works is kept for the next life.
      trial.failure(await host.call('kid', 'crash'));
      expect(textOf(await host.call('kid', 'echo', { text: 'again' }))).toBe('again');
      expect(trial.journal('kid', 'start')).toHaveLength(3);
    },
    { config: { timeouts: { childSpawnMs: 8_000 } } },
  ));

test('a server configured for Content-Length headers works at once', () =>
  withFaults({ kid: { faults: ['content-length'], framing: 'content-length' } }, async (trial) => {
    const { host } = trial;
    expect(textOf(await host.call('kid', 'echo', { text: 'é漢🚀' }))).toBe('é漢🚀');
  }));

test('invalid UTF-8 in an answer is replaced', () =>
  withFaults({ kid: {} }, async (trial) => {
    const line = answerLine('<\u00ff\u00c3>');

    const answer = await print(trial.host, line, { encoding: 'latin1' });

    expect(textOf(answer)).toBe('<\ufffd\ufffd>');
  }));

test('half a surrogate pair in an answer is forwarded as written', () =>
  withFaults({ kid: {} }, async (trial) => {
    const answer = await print(trial.host, answerLine('<\ud83d>'));

    expect(textOf(answer)).toBe('<\ud83d>');
  }));

test('invalid UTF-8 and half pairs on stderr and in errors are harmless', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    await print(host, 'odd \u00ff bytes\n', { encoding: 'latin1', to: 'stderr' });
    await until(() => host.stderr.includes('[kid] odd \ufffd bytes'), 'passed on');

    const error = '{"code":-32050,"message":"half \\ud83d a pair"}';
    const answer = await print(host, `{"jsonrpc":"2.0","id":%ID%,"error":${error}}\n`);

    expect(answer.error?.message).toContain('half \ud83d a pair');
  }));
