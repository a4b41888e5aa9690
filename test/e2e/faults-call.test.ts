// Part B of the faults: servers that go wrong while they work on a call.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerLine, until, withFaults } from '../support/faults.ts';
import { processesWith } from '../support/processes.ts';
import { textOf } from '../support/raw-host.ts';

test('a call without an answer times out, and the server is notified', () =>
  withFaults({ kid: { rpcTimeoutMs: 4_000 } }, async (trial) => {
    const { host } = trial;
    const call = host.call('kid', 'never');
    await until(() => trial.journal('kid', 'call').length > 0, 'the call has come');
    await trial.askNeighbour();

    expect(trial.failure(await call)).toMatchInlineSnapshot(
      `"RPC timeout for tools/call: server "kid" did not respond within 4000 ms (subtool "never"). If it needs longer, raise rpcTimeoutMs for it (declared in <project>/switchboard.config.json)."`,
    );
    await until(() => trial.journal('kid', 'cancelled').length > 0, 'the server is told');
    expect(textOf(await host.call('kid', 'echo', { text: 'next' }))).toBe('next');
    expect(trial.journal('kid', 'start')).toHaveLength(1);
  }));

test('a late answer is dropped, and not matched to the next call', () =>
  withFaults({ kid: { rpcTimeoutMs: 4_000 } }, async (trial) => {
    const { host } = trial;
    const failure = trial.failure(await host.call('kid', 'never'));
    const [{ id } = { id: undefined }] = trial.journal('kid', 'call');
    // The late answer comes while this one is waited for.
    const late = answerLine('too late').replace('%ID%', String(id));
    const next = await host.call('kid', 'print', { before: late, after: answerLine('its own') });

    expect(failure).toContain('within 4000 ms');
    expect(textOf(next)).toBe('its own');
  }));

test('a server that crashes mid-call fails the call, which is sent only once', () =>
  withFaults({ kid: {} }, async (trial) => {
    const answer = await trial.host.call('kid', 'crash');

    expect(trial.failure(answer)).toMatchInlineSnapshot(`
      "Child MCP kid exited with code 7 while working on subtool "crash". It restarts the next time it's used. Its last output:
      giving up, the key was ***"
    `);
    expect(trial.journal('kid', 'call')).toHaveLength(1);
  }));

test('after a server crashes, the next call restarts it', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    trial.failure(await host.call('kid', 'crash'));

    const next = await host.call('kid', 'echo', { text: 'back again' });

    expect(textOf(next)).toBe('back again');
    expect(trial.journal('kid', 'start')).toHaveLength(2);
  }));

test('when a server is killed, all 50 calls in flight fail', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const calls = Array.from({ length: 49 }, () => host.call('kid', 'never'));
    calls.push(host.call('kid', 'crash', { signal: 'SIGKILL' }));

    const failures = (await Promise.all(calls)).map((answer) => trial.failure(answer));

    expect(new Set(failures)).toMatchInlineSnapshot(`
      Set {
        "Child MCP kid was killed (SIGKILL) while working on subtool "never". It restarts the next time it's used. Its last output:
      giving up, the key was ***",
        "Child MCP kid was killed (SIGKILL) while working on subtool "crash". It restarts the next time it's used. Its last output:
      giving up, the key was ***",
      }
    `);
  }));

test('half a line from a crashed server is not joined with its next process’s output', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const half = answerLine('never finished').slice(0, -20);
    const failure = trial.failure(await host.call('kid', 'crash', { before: half }));

    expect(failure).toContain('Child MCP kid exited with code 7');
    expect(textOf(await host.call('kid', 'echo', { text: 'whole' }))).toBe('whole');
  }));

test('a server that closes its output is replaced and stopped', () =>
  withFaults({ kid: { faults: ['stubborn'] } }, async (trial) => {
    const { host } = trial;
    const before = textOf(await host.call('kid', 'pid'));
    const failure = trial.failure(await host.call('kid', 'close-output'));

    expect(failure).toMatchInlineSnapshot(
      `"Server "kid" closed its output while working on subtool "close-output". It restarts the next time it's used. It printed nothing on stderr."`,
    );
    expect(textOf(await host.call('kid', 'pid'))).not.toBe(before);
    const isGone = () => processesWith(trial.tag).every(({ pid }) => pid !== Number(before));
    await until(isGone, 'the server without output is gone');
  }));

test('when a launcher crashes, the call fails although the real server holds the pipe', () =>
  withFaults({ kid: { faults: ['launcher'] } }, async (trial) => {
    const { host } = trial;
    const orphan = Number(textOf(await host.call('kid', 'pid')));
    const failure = trial.failure(await host.call('kid', 'kill-launcher'));

    expect(failure).toMatchInlineSnapshot(
      `"Child MCP kid was killed (SIGKILL) while working on subtool "kill-launcher". It restarts the next time it's used. It printed nothing on stderr."`,
    );
    const isGone = () => processesWith(trial.tag).every(({ pid }) => pid !== orphan);
    await until(isGone, 'what the launcher has left behind is gone');
    expect(textOf(await host.call('kid', 'echo', { text: 'again' }))).toBe('again');
  }));

test('a server stopped with SIGSTOP times out and exits with the program', () =>
  withFaults({ kid: { rpcTimeoutMs: 1_000 } }, async (trial) => {
    const call = trial.host.call('kid', 'freeze');
    await trial.askNeighbour();

    expect(trial.failure(await call)).toContain('(subtool "freeze")');
    expect(processesWith(trial.tag)).toHaveLength(2);
  }));

test('a stopped server with megabytes of unread input affects only itself', () =>
  withFaults({ kid: { rpcTimeoutMs: 8_000 } }, async (trial) => {
    const { host } = trial;
    const texts = Array.from({ length: 12 }, () => 'x'.repeat(8 << 20));
    const frozen = host.call('kid', 'freeze');
    await until(() => trial.journal('kid', 'call').length > 0, 'it is about to stop');
    const calls = texts.map((text) => host.call('kid', 'echo', { text }));
    await host.request('ping'); // all of them have been read
    await new Promise((resolve) => setTimeout(resolve, 6_000)); // longer than it may read nothing
    const lastStraw = host.call('kid', 'echo', { text: 'the last straw' });

    const [first, ...others] = await Promise.all([frozen, ...calls, lastStraw]);
    expect(trial.failure(first)).toMatch(/did not read its input|within 8000 ms/);
    for (const [index, answer] of others.entries()) {
      // Where it was given up before all of them had come, the rest found its next life.
      if (textOf(answer) === (texts[index] ?? 'the last straw')) continue;
      expect(trial.failure(answer)).toMatch(/did not read its input|within 8000 ms/);
    }
    expect(others.some(({ result }) => result?.isError)).toBe(true);
  }));

test('a busy server does not delay others', () =>
  withFaults({ kid: {} }, async (trial) => {
    const enough = join(trial.project.dir, 'enough');
    const call = trial.host.call('kid', 'spin', { until: enough });
    await until(() => trial.journal('kid', 'call').length > 0, 'the call has come');

    await trial.askNeighbour();
    writeFileSync(enough, '');
    expect(textOf(await call)).toBe('spun');
  }));

test.for(['sampling/createMessage', 'roots/list', 'elicitation/create'])(
  'a server that requests %s gets a method-not-found error',
  (method) =>
    withFaults({ kid: {} }, async (trial) => {
      const answer = await trial.host.call('kid', 'ask', { method });

      expect(JSON.parse(textOf(answer))).toMatchObject({ error: { code: -32601 } });
      // The host was never asked.
      expect(trial.host.messages.filter((message) => message['method'])).toEqual([]);
    }),
);

test('a server that asks 500 times before it reads an answer gets all answers', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const id = 'x'.repeat(100_000);
    const ping = `{"jsonrpc":"2.0","id":"${id}","method":"ping"}\n`;
    const answer = await host.call('kid', 'print', {
      fill: ping,
      times: 500, // less unread input than makes Switchboard give a server up
      after: answerLine('has asked enough'),
    });

    expect(textOf(answer)).toBe('has asked enough');
    expect(textOf(await host.call('kid', 'echo', { text: 'next' }))).toBe('next');
    expect(trial.journal('kid', 'start')).toHaveLength(1);
  }));

test('only progress for the call is forwarded in a flood of progress', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    await host.call('kid', 'echo'); // its start would be told of, too
    const progress = (token: string) =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}\n`;
    const request = {
      name: 'kid_suite',
      arguments: {
        action: 'call',
        subtool: 'print',
        args: {
          fill: progress('%TOKEN%') + progress('"nobody"') + progress('999999'),
          times: 5_000,
          after: answerLine('there at last'),
        },
      },
      _meta: { progressToken: 'mine' },
    };

    const answer = await host.request('tools/call', request);

    expect(textOf(answer)).toBe('there at last');
    const passedOn = host.messages.filter((message) => message['method'] !== undefined);
    expect(passedOn.length).toBeLessThanOrEqual(5_000);
    const params = { progressToken: 'mine', progress: 1 };
    const wanted = { jsonrpc: '2.0', method: 'notifications/progress', params };
    expect(passedOn).toEqual(passedOn.map(() => wanted));
  }));

test('without a progress token from the host, no progress is forwarded', () =>
  withFaults({ kid: {} }, async (trial) => {
    const { host } = trial;
    const line =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%ID%,"progress":1}}\n';
    const print = { fill: line, times: 10_000, after: answerLine('done') };

    expect(textOf(await host.call('kid', 'print', print))).toBe('done');
    expect(host.messages.filter((message) => message['method'])).toEqual([]);
  }));

test('a secret in a server’s error is masked', () =>
  withFaults({ kid: {} }, async (trial) => {
    const answer = await trial.host.call('kid', 'fail');

    expect(answer.error).toEqual({
      code: -32001,
      message: 'The key *** is not accepted (server "kid", subtool "fail")',
      data: { key: '***' },
    });
  }));

test('a secret in a server’s result passes through: results are never changed', () =>
  withFaults({ kid: { env: { TOKEN: 'a-token-of-the-server' } } }, async (trial) => {
    const answer = await trial.host.call('kid', 'env', { name: 'TOKEN' });

    expect(textOf(answer)).toBe('a-token-of-the-server');
  }));

test('a server’s stderr reaches ours without terminal sequences', () =>
  withFaults({ kid: {} }, async (trial) => {
    const before = '\u001b[31mred\u001b[0m \u001b]0;title\u0007 and \u202eplain\n';

    await trial.host.call('kid', 'print', { before, to: 'stderr' });

    await until(() => trial.host.stderr.includes('plain'), 'it has been passed on');
    expect(trial.host.stderr).toContain('[kid] red  and plain\n');
  }));
