// Part A of the faults: servers that do not start, or not well.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until, withFaults } from '../support/faults.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { FIXTURES } from '../support/project.ts';
import { textOf } from '../support/raw-host.ts';

test('names a command that does not exist', () =>
  withFaults({ kid: { command: '/no/such/program' } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" did not start: /no/such/program was not found. Check "command" in <project>/switchboard.config.json."`,
    );
  }));

test('names a command that is not a program', () =>
  withFaults({ kid: { command: './plain.txt' } }, async (trial) => {
    writeFileSync(join(trial.project.dir, 'plain.txt'), 'no program', { mode: 0o644 });

    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" did not start: ./plain.txt is not executable. Make it executable, or start it with its interpreter: "command" in <project>/switchboard.config.json."`,
    );
  }));

test('blames a missing working directory, not the command', () =>
  withFaults({ kid: { cwd: 'gone' } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" did not start: its working directory (cwd) <project>/gone does not exist. Check "cwd" in <project>/switchboard.config.json."`,
    );
    expect(trial.journal('kid')).toEqual([]);
  }));

test('names an unset variable, and starts nothing', () =>
  withFaults({ kid: { env: { KEY: '${NOT_SET_ANYWHERE}' } } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" needs the environment variable NOT_SET_ANYWHERE, which is not set (env.KEY in <project>/switchboard.config.json). Set it in the environment the host starts Switchboard in, or use \${NOT_SET_ANYWHERE:-default}."`,
    );
    expect(trial.journal('kid')).toEqual([]);
  }));

test('a server that exits at once without an error has failed', () =>
  withFaults({ kid: { faults: ['exit=0'] } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(`
      "Child MCP kid exited with code 0 while starting. It restarts the next time it's used. Its last output:
      starting
      the API key *** is missing a letter"
    `);
  }));

test('reports the last output of a server that exits at once, without its secrets', () =>
  withFaults({ kid: { faults: ['exit=1'] } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(`
      "Child MCP kid exited with code 1 while starting. It restarts the next time it's used. Its last output:
      starting
      the API key *** is missing a letter"
    `);
    const lastWords = '[kid] the API key *** is missing a letter';
    await until(() => trial.host.stderr.includes(lastWords), 'they are passed on');
  }));

test('a server that crashes after every start is started five times, then parked', () => {
  const script = join(FIXTURES, 'servers/dies-in-call.sh');
  const kid = { command: 'sh', args: [script, 'starts.txt'] };
  return withFaults({ kid }, async (trial) => {
    const failures: string[] = [];
    for (let call = 0; call < 8; call++) {
      failures.push(trial.failure(await trial.host.call('kid', 'any')));
    }
    const parked = failures.filter((text) => text.includes('parked'));

    expect(readFileSync(join(trial.project.dir, 'starts.txt'), 'utf8')).toBe('start\n'.repeat(5));
    expect(parked).toEqual(failures.slice(5));
    expect(parked[0]?.replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss')).toMatchInlineSnapshot(
      `"Server "kid" was started five times within ten seconds and is parked until hh:mm:ss. Find out why it exits: switchboard doctor kid"`,
    );
  });
});

test('a crashed server is not restarted until it is called', () =>
  withFaults({ kid: { faults: ['die-after=50'] } }, async (trial) => {
    trial.failure(await trial.host.call('kid', 'never'));
    const starts = trial.journal('kid', 'start').length;

    const isStartedAgain = await eventually(
      () => trial.journal('kid', 'start').length > starts,
      1_000,
    );

    expect(isStartedAgain).toBe(false);
  }));

test('calls wait for a slow start, and two first calls share one process', () =>
  withFaults({ kid: { faults: ['wait-for=go-on'] } }, async (trial) => {
    const { host } = trial;
    const calls = [1, 2].map((n) => host.call('kid', 'echo', { text: `call ${n}` }));
    await until(() => trial.journal('kid', 'start').length > 0, 'started');

    await trial.askNeighbour();
    const list = await host.request('tools/list');
    expect(list.result?.['tools']).toHaveLength(2);
    expect(trial.journal('kid', 'call')).toEqual([]); // all of that came before

    trial.project.write('go-on', '');
    expect((await Promise.all(calls)).map(textOf)).toEqual(['call 1', 'call 2']);
    expect(trial.journal('kid', 'start')).toHaveLength(1);
  }));

test('a server that never answers the handshake times out and is stopped', () =>
  withFaults(
    { kid: { faults: ['no-handshake', 'stubborn'] } },
    async (trial) => {
      const { host } = trial;
      await host.call('calm', 'echo');
      const call = host.call('kid', 'echo');
      await until(() => trial.journal('kid', 'start').length > 0, 'started');
      await trial.askNeighbour();

      expect(trial.failure(await call)).toMatchInlineSnapshot(
        `"Server "kid" did not respond to the handshake within 8000 ms (command: <node> <fixtures>/servers/faulty.mjs --tag=<tag> --journal=<project>/journals/kid.jsonl --no-handshake --stubborn). If it needs longer to start, raise timeouts.childSpawnMs (server declared in <project>/switchboard.config.json). It printed no JSON with either newline or content-length framing."`,
      );
      const isGone = () =>
        processesWith(trial.tag).every(({ command }) => !command.includes('no-'));
      await until(isGone, 'the silent server is gone');
    },
    { config: { timeouts: { childSpawnMs: 8_000 } } },
  ));

test('quotes a server that refuses the handshake, without its secrets', () =>
  withFaults({ kid: { faults: ['refuse-handshake'] } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" refused the handshake: The key *** has expired (-32001). Run: switchboard doctor kid"`,
    );
    const isGone = () => processesWith(trial.tag).length === 0;
    await until(isGone, 'the server that refused is gone');
  }));

test('distinguishes a server with an unknown MCP revision from a broken one', () =>
  withFaults({ kid: { faults: ['revision=1999-01-01'] } }, async (trial) => {
    const answer = await trial.host.call('kid', 'echo');

    expect(trial.failure(answer)).toMatchInlineSnapshot(
      `"Server "kid" uses MCP revision "1999-01-01", which Switchboard doesn't support. Supported: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07. Update the server or Switchboard."`,
    );
  }));

test('a server that never lists its tools times out, and Switchboard’s list does not wait', () =>
  withFaults({ kid: { faults: ['no-list'], rpcTimeoutMs: 4_000 } }, async (trial) => {
    const { host } = trial;
    const introspection = host.introspect('kid');
    await until(() => trial.journal('kid', 'start').length > 0, 'started');

    const first = await Promise.race([introspection, host.request('tools/list')]);
    expect(first.result?.['tools']).toMatchObject([{ name: 'calm_suite' }, { name: 'kid_suite' }]);
    await trial.askNeighbour();

    expect(trial.failure(await introspection)).toMatchInlineSnapshot(
      `"RPC timeout for tools/list: server "kid" did not respond within 4000 ms (its list of tools). If it needs longer, raise rpcTimeoutMs for it (declared in <project>/switchboard.config.json)."`,
    );
    // Its tools can be called all the same.
    expect(textOf(await host.call('kid', 'echo', { text: 'unlisted' }))).toBe('unlisted');
  }));

test.for(['stderr', 'stdout'])(
  'npx that asks on %s whether to proceed results in a hint about --yes',
  (stream) =>
    withFaults(
      { kid: { faults: [`ask-to-proceed=${stream}`] } },
      async (trial) => {
        await trial.askNeighbour();

        const answer = await trial.host.call('kid', 'echo');

        expect(trial.failure(answer)).toContain('add "--yes" to its arguments');
      },
      { config: { timeouts: { childSpawnMs: 8_000 } } },
    ),
);
