// Part D of the faults: too much of everything.
import { expect, test } from 'vitest';
import { answerLine, peakMemoryMiB, type Trial, until, withFaults } from '../support/faults.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { type Answer, textOf } from '../support/raw-host.ts';

const KIB = 'x'.repeat(1024);

/** What a message of 16 MiB, the most that is accepted, may cost in memory at the most. */
const MOST_MEMORY_MIB = 110 + 4 * 16;

const TOO_LARGE =
  'Server "kid" sent a message larger than 16777216 bytes. Request less data at once, or raise limits.messageBytes in the configuration.';

/** The two ways in which an answer is written: the id before the result, or behind it. */
const ORDERS = {
  'the id first': {
    before: '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"',
    after: '"}]}}\n',
  },
  'the id last': {
    before: '{"result":{"content":[{"type":"text","text":"',
    after: '"}]},"jsonrpc":"2.0","id":%ID%}\n',
  },
};

test.for(Object.entries(ORDERS))(
  'an answer of 100 MiB with %s fails only its call, while another one succeeds',
  ([, order]) =>
    withFaults({ kid: {} }, async (trial) => {
      const { host } = trial;
      const other = host.call('kid', 'sleep', { ms: 500 });
      const large = host.call('kid', 'print', { ...order, fill: KIB, times: 100 * 1024 });
      await trial.askNeighbour();

      expect(trial.failure(await large)).toBe(TOO_LARGE);
      expect(textOf(await other)).toBe('slept 500');
      expect(textOf(await host.call('kid', 'echo', { text: 'small' }))).toBe('small');
      expect(trial.journal('kid', 'start')).toHaveLength(1);
      expectModestMemory(trial);
    }),
);

/** What JSON.parse would need seconds and a gigabyte for; `fill` is repeated to 15 MiB. */
const COMPLEX = {
  depth: {
    fill: `${'['.repeat(1_100)}${']'.repeat(1_100)},`,
    what: 'nested more than 1000 levels deep',
  },
  members: {
    fill: '[],'.repeat(400),
    what: 'with more than 2000000 array elements and object members',
  },
};

test.for(Object.entries(COMPLEX))(
  'an answer of 15 MiB beyond limits.%s fails only its call',
  ([limit, { fill, what }]) =>
    withFaults({ kid: {} }, async (trial) => {
      const { host } = trial;
      const times = Math.ceil((15 << 20) / fill.length);
      const other = host.call('kid', 'sleep', { ms: 500 });
      const before = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[';
      const complex = host.call('kid', 'print', { before, fill, times, after: '1]}}\n' });
      await trial.askNeighbour();

      expect(trial.failure(await complex)).toBe(
        `Server "kid" sent a message ${what}. Request less data at once, or raise limits.${limit} in the configuration.`,
      );
      expect(textOf(await other)).toBe('slept 500');
      expect(textOf(await host.call('kid', 'echo', { text: 'small' }))).toBe('small');
      expect(trial.journal('kid', 'start')).toHaveLength(1);
      expectModestMemory(trial);
    }),
);

test.for(Object.entries(COMPLEX))(
  'twelve notifications of 15 MiB beyond limits.%s fail no call',
  ([, { fill }]) =>
    withFaults({ kid: {} }, async (trial) => {
      const { host } = trial;
      const times = Math.ceil((15 << 20) / fill.length);
      const before = '{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{"x":[';
      const unasked = { before, fill, times, after: `1]}}\n${answerLine('unharmed')}` };
      const calls = Array.from({ length: 12 }, () => host.call('kid', 'print', unasked));
      for (let asked = 0; asked < 12; asked++) await trial.askNeighbour();

      for (const answer of await Promise.all(calls)) expect(textOf(answer)).toBe('unharmed');
      expectModestMemory(trial);
    }),
);

test('limits.depth and limits.members can be set', () =>
  withFaults(
    { kid: {} },
    async (trial) => {
      const { fill } = COMPLEX.depth; // 1,100 levels, and as many members
      const before =
        '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"deep"}],"x":[';
      const answerWith = (times: number) =>
        trial.host.call('kid', 'print', { before, fill, times, after: '1]}}\n' });

      expect(textOf(await answerWith(40))).toBe('deep');
      expect(trial.failure(await answerWith(50))).toContain('limits.members');
    },
    { config: { limits: { depth: 2_000, members: 50_000 } } },
  ));

test('an oversized notification fails no call', () =>
  withFaults({ kid: {} }, async (trial) => {
    const print = {
      before: '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"',
      fill: KIB,
      times: 20 * 1024,
      after: `"}}\n${answerLine('unharmed')}`,
    };

    expect(textOf(await trial.host.call('kid', 'print', print))).toBe('unharmed');
  }));

test('an oversized request fails no call that happens to have its id', () =>
  withFaults({ kid: {} }, async (trial) => {
    const print = {
      before: '{"jsonrpc":"2.0","id":%ID%,"method":"sampling/createMessage","params":{"text":"',
      fill: KIB,
      times: 20 * 1024,
      after: `"}}\n${answerLine('unharmed')}`,
    };

    expect(textOf(await trial.host.call('kid', 'print', print))).toBe('unharmed');
  }));

test('a server that prints 400 MiB without a line end is stopped and replaced', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const before = Number(textOf(await host.call('kid', 'pid')));
    const endless = host.call('kid', 'print', { fill: KIB, times: 400 * 1024 });
    await trial.askNeighbour();

    expect(trial.failure(await endless)).toBe(TOO_LARGE);
    const isGone = () => processesWith(trial.tag).every(({ pid }) => pid !== before);
    await until(isGone, 'the endless server is gone');
    expect(textOf(await host.call('kid', 'echo', { text: 'new life' }))).toBe('new life');
    expectModestMemory(trial);
  }));

test('20 MiB of log lines on stdout do not hide the answer behind them', () =>
  withFaults({ kid: {} }, async (trial) => {
    const fill = `2026-01-01T00:00:00Z [info] {"level": "info"} ${'.'.repeat(53)}\n`;
    const print = { fill, times: 200_000, after: answerLine('found') };
    const call = trial.host.call('kid', 'print', print);
    await trial.askNeighbour();

    expect(textOf(await call)).toBe('found');
    expectModestMemory(trial);
  }));

test.for(['\n', ''])('20 MiB on stderr, in lines that end with %j, do not block a server', (end) =>
  withFaults({ kid: {} }, async (trial) => {
    const print = { fill: `a line with ***${end}`, times: 1_400_000, to: 'stderr' };
    const call = trial.host.call('kid', 'print', print);
    await trial.askNeighbour();

    expect(textOf(await call)).toBe('printed');
    expectModestMemory(trial);
  }),
);

test('10,000 list change notifications are not all forwarded', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const fill = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n';
    const print = { fill, times: 10_000, after: answerLine('quiet now') };

    expect(textOf(await host.call('kid', 'print', print))).toBe('quiet now');
    expect(host.messages.filter((message) => message['method']).length).toBeLessThanOrEqual(200);
  }));

test('2,000 concurrent calls each get their own answer', () =>
  withFaults({ kid: {} }, async (trial) => {
    const texts = Array.from({ length: 2_000 }, (_, n) => `call ${n}`);

    const answers = await Promise.all(
      texts.map((text, n) => trial.host.call(n % 2 ? 'kid' : 'calm', 'echo', { text })),
    );

    expect(answers.map(textOf)).toEqual(texts);
    expect(trial.journal('kid', 'start')).toHaveLength(1);
  }));

test('cancelling 500 calls notifies the server, and none is answered', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const ids = Array.from({ length: 500 }, (_, n) => 10_000 + n);
    for (const id of ids) void host.call('kid', 'hold', {}, id);
    await until(() => trial.journal('kid', 'call').length === 500, 'all calls have come');

    for (const id of ids) trial.cancel(id);

    await until(() => trial.journal('kid', 'cancelled').length === 500, 'the server is told');
    // The server answers all the same, and then this call.
    expect(textOf(await host.call('kid', 'release'))).toBe('released');
  }));

test('servers wait while the host does not read; later all 80 MiB is delivered', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    await host.call('kid', 'echo');
    host.process.stdout?.pause();
    const calls: Promise<Answer>[] = [];
    const print = { ...ORDERS['the id first'], fill: KIB, times: 1024 };
    for (let n = 0; n < 80; n++) calls.push(host.call('kid', 'print', print));
    await until(() => trial.journal('kid', 'call').length > 2, 'the server works on the calls');

    // It has to wait instead of piling up its answers in our memory.
    const isThrough = () => trial.journal('kid', 'call').length > 60;
    expect(await eventually(isThrough, 2_000)).toBe(false);

    host.process.stdout?.resume();
    const lengths = (await Promise.all(calls)).map((answer) => textOf(answer).length);
    expect(lengths).toEqual(calls.map(() => 1 << 20));
    expectModestMemory(trial);
  }));

test.for([5_000, 200_000])('a list of %d tools is cut for the model, with a note', (count) =>
  withFaults(
    { kid: { faults: ['list=tools.json'] } },
    async (trial) => {
      const { host } = trial;

      const answer = await host.introspect('kid');

      expect(answer.error).toBeUndefined();
      expect(JSON.stringify(answer).length).toBeLessThan(2 << 20);
      const { tools, note } = JSON.parse(textOf(answer)) as {
        tools: { name: string }[];
        note: string;
      };
      expect(tools.length).toBeGreaterThan(100);
      expect(note).toContain('Introspect with "subtool" to see one in full');
      expect(note).toContain(`Only the first ${tools.length} of`);
      expect(textOf(await host.call('kid', 'tool-4999'))).toBe('called tool-4999');
    },
    { files: { 'tools.json': manyTools(count) } },
  ),
);

test('a 4 MiB description is cut, in the list and in full', () =>
  withFaults(
    { kid: { faults: ['list=tools.json'] } },
    async (trial) => {
      const { host } = trial;
      for (const verbosity of ['summary', 'full']) {
        const answer = await host.introspect('kid', { verbosity });
        expect(JSON.stringify(answer).length).toBeLessThan(20_000);
        expect(textOf(answer)).toContain('…');
      }
      expect(textOf(await host.call('kid', 'wordy'))).toBe('called wordy');
    },
    { files: { 'tools.json': [{ name: 'wordy', description: 'word '.repeat(800_000) }] } },
  ));

function manyTools(count: number): string {
  const description = count > 10_000 ? undefined : 'Does one of very many things. '.repeat(3);
  return JSON.stringify(
    Array.from({ length: count }, (_, n) => ({ name: `tool-${n}`, description })),
  );
}

function expectModestMemory({ host }: Trial): void {
  expect(peakMemoryMiB(host.process.pid) ?? 0).toBeLessThan(MOST_MEMORY_MIB);
}
