// Part F of the faults: whatever way the program ends, no process stays.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerLine, type Trial, until, withFaults } from '../support/faults.ts';
import { processesWith } from '../support/processes.ts';
import { IS_SHARED } from '../support/project.ts';
import { type RawHost, textOf } from '../support/raw-host.ts';

const STUBBORN = { faults: ['stubborn', 'grandchild', 'stubborn-grandchild'] };

/** Starts a server and what belongs to it; gives its process id. */
async function startChild(trial: Trial, child = 'kid', host = trial.host): Promise<number> {
  const pid = Number(textOf(await host.call(child, 'pid')));
  expect(pid).toBeGreaterThan(1);
  return pid;
}

async function startFamily(trial: Trial): Promise<void> {
  await startChild(trial);
  await until(() => trial.journal('kid', 'start').length === 3, 'the grandchildren run');
}

const isRunning = ({ tag }: Trial, pid: number) =>
  processesWith(tag).some((running) => running.pid === pid);

test('a server that ignores EOF and SIGTERM exits with the program', () =>
  withFaults(
    { kid: { faults: ['stubborn'] } },
    async (trial) => {
      await startChild(trial);

      const { code } = await trial.end((host) => host.close());

      expect(code).toBe(0);
      expect(trial.journal('kid').map(({ what }) => what)).toEqual([
        'start',
        'call',
        'eof',
        'SIGTERM',
      ]);
    },
    { config: { timeouts: { stopMs: 5_000 } } },
  ));

test.for([
  ['a server that goes by itself', { faults: ['grandchild', 'stubborn-grandchild'] }],
  ['a stubborn server', STUBBORN],
] as const)('grandchildren, mild and stubborn, end with %s', ([, kid]) =>
  withFaults({ kid }, async (trial) => {
    await startFamily(trial);
    expect(processesWith(trial.tag)).toHaveLength(3);
  }),
);

test('a host that closes stdin during calls does not have to wait for them', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    void host.call('kid', 'never');
    void host.call('calm', 'sleep', { ms: 60_000 });
    await until(() => trial.journal('kid', 'call').length > 0, 'the first call runs');
    await until(() => trial.journal('calm', 'call').length > 0, 'the second call runs');

    expect(await trial.end(() => host.close())).toEqual({ code: 0, signal: null });
  }));

test('a server that is still starting when the host disconnects also exits', () =>
  withFaults({ kid: { faults: ['no-handshake', 'stubborn'] } }, async (trial) => {
    const { host } = trial;
    void host.call('kid', 'echo');
    await until(() => trial.journal('kid', 'start').length > 0, 'it is being started');

    expect(await trial.end(() => host.close())).toEqual({ code: 0, signal: null });
  }));

test('a host that disappears during a large answer leaves nothing behind', () =>
  withFaults({ kid: STUBBORN }, async (trial) => {
    const { host } = trial;
    await startFamily(trial);
    const { stdin, stdout, stderr } = host.process;
    const vanish = () => {
      for (const pipe of [stdin, stdout, stderr]) pipe?.destroy();
    };
    stdout?.once('data', () => void trial.end(vanish));
    void host.call('kid', 'print', {
      before: answerLine('').slice(0, -6),
      fill: 'x'.repeat(1024),
      times: 12 * 1024,
      after: '"}]}}\n',
    });

    expect(await host.exited).toEqual({ code: 0, signal: null });
  }));

test.for(['SIGTERM', 'SIGINT'] as const)(
  '%s stops the program and its most stubborn servers',
  (signal) =>
    withFaults({ kid: STUBBORN }, async (trial) => {
      await startFamily(trial);
      void trial.host.call('kid', 'never');

      const exit = await trial.end((host) => host.process.kill(signal));

      expect(exit).toEqual({ code: 0, signal: null });
    }),
);

test('when the program is killed, servers that react to EOF exit', () =>
  withFaults({ kid: {} }, async (trial) => {
    const kid = await startChild(trial);
    await trial.end((host) => host.process.kill('SIGKILL'));

    await until(() => !isRunning(trial, kid), 'the server is gone');
    expect(trial.journal('kid', 'eof')).toHaveLength(1);
  }));

// Sessions of one background process share the server.
test.skipIf(IS_SHARED)('the next program stops only what a killed one left behind', () =>
  withFaults({ kid: { faults: ['stubborn'] } }, async (trial) => {
    const survivor = await startChild(trial);
    const killed = await trial.start();
    const orphan = await startChild(trial, 'kid', killed);
    await trial.end((host) => host.process.kill('SIGKILL'), killed);
    await until(() => trial.journal('kid', 'eof').length === 1, 'the orphan has seen EOF');
    expect(isRunning(trial, orphan)).toBe(true);

    const next = await trial.start();

    await until(() => !isRunning(trial, orphan), 'the orphan is ended');
    await until(() => next.stderr.includes('left behind'), 'it is told');
    expect(next.stderr).toContain(
      'stopped processes that an earlier run left behind (process groups: 1).',
    );
    expect(await startChild(trial)).toBe(survivor);
  }),
);

// The background process gives the server its time.
test.skipIf(IS_SHARED)('so does a next run that ends at once', () =>
  withFaults({ kid: { faults: ['stubborn'] } }, async (trial) => {
    const killed = await trial.start();
    const orphan = await startChild(trial, 'kid', killed);
    await trial.end((host) => host.process.kill('SIGKILL'), killed);

    const next = await trial.start();
    await trial.end((host) => host.close(), next);

    expect(isRunning(trial, orphan)).toBe(false);
  }),
);

test('an unexpected error exits the program with its servers, and is reported', () =>
  withFaults(
    { kid: STUBBORN },
    async (trial) => {
      await startFamily(trial);

      const { code } = await trial.end((host) => host.process.kill('SIGUSR2'));

      expect(code).not.toBe(0);
      expect(await trial.host.lastWords()).toContain('nobody expected this');
    },
    {
      config: { environment: 'minimal' }, // servers must not see these options of node
      host: { env: { NODE_OPTIONS: `--import=${moduleThatThrowsOn('SIGUSR2')}` } },
    },
  ));

// The background process stays, and gives the server its time.
test.skipIf(IS_SHARED)('a second SIGINT exits at once', () =>
  withFaults(
    { kid: STUBBORN },
    async (trial) => {
      await startFamily(trial);
      const begin = performance.now();

      await trial.end(async (host) => {
        host.process.kill('SIGINT');
        await until(() => trial.journal('kid', 'eof').length > 0, 'the server is asked to go');
        host.process.kill('SIGINT');
      });

      expect(performance.now() - begin).toBeLessThan(30_000);
    },
    { config: { timeouts: { stopMs: 60_000 } } },
  ),
);

test('a program that slept past its limits continues with its servers', () =>
  withFaults({ kid: { rpcTimeoutMs: 1_500 } }, async (trial) => {
    const { host } = trial;
    const before = await startChild(trial);
    const never = host.call('kid', 'never');
    const brief = host.call('kid', 'sleep', { ms: 1 });
    await until(() => trial.journal('kid', 'call').length === 3, 'the calls run');
    host.process.kill('SIGSTOP');
    await pause(2_000);
    host.process.kill('SIGCONT');

    const late = (tool: string) => expect.stringContaining(`within 1500 ms (subtool "${tool}")`);
    expect(trial.failure(await never)).toEqual(late('never'));
    // Its answer and its limit came during the sleep: whichever Node looks at first counts.
    const { result } = await brief;
    expect([result?.isError, textOf(await brief)]).toEqual(
      result?.isError ? [true, late('sleep')] : [undefined, 'slept 1'],
    );
    expect(await startChild(trial)).toBe(before);
  }));

test('stubborn servers are stopped concurrently', () => {
  const names = Array.from({ length: 8 }, (_, n) => `kid${n}`);
  const children = Object.fromEntries(names.map((name) => [name, { faults: ['stubborn'] }]));
  return withFaults(
    children,
    async (trial) => {
      await Promise.all(names.map((name) => startChild(trial, name)));

      await trial.end((host: RawHost) => host.close());

      const timesOf = (what: string) =>
        names.flatMap((name) => trial.journal(name, what).map(({ at }) => at));
      expect(timesOf('SIGTERM')).toHaveLength(names.length);
      // The last has seen the first step before the first has seen the second.
      expect(Math.max(...timesOf('eof'))).toBeLessThanOrEqual(Math.min(...timesOf('SIGTERM')));
    },
    { config: { timeouts: { stopMs: 5_000 } } },
  );
});

/** The address of a module for `node --import`. */
function moduleThatThrowsOn(signal: string): string {
  const code = `process.once('${signal}', () => { throw new Error('nobody expected this'); })`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
