// What a program prints, also from one that leaves its output open, or does not end at all.
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { type OutputOptions, outputOf } from '../../../../src/agents/codex/output-of.ts';
import { eventually, isAlive } from '../../../support/processes.ts';

function run(script: string, said: Partial<OutputOptions> = {}) {
  const processes: number[] = [];
  const options: OutputOptions = {
    cwd: tmpdir(),
    env: process.env,
    cancellation: undefined,
    onProcess: (pid) => void processes.push(pid),
    ...said,
  };
  return { printed: outputOf('/bin/sh', ['-c', script], options), processes };
}

test('returns the whole output', async () => {
  const { printed, processes } = run('head -c 300000 /dev/zero | tr "\\0" x; echo end >&2');
  expect(await printed).toBe('x'.repeat(300_000));
  expect(processes).toHaveLength(1);
});

test('returns the output even if another process keeps the pipe open', async () => {
  const { printed } = run('echo it; setsid sleep 30 &');
  expect(await printed).toBe('it\n');
});

test('stops what is left of its group', async () => {
  const { printed } = run('sleep 1000 & echo $!');
  const left = Number(await printed);
  expect(await eventually(() => !isAlive(left))).toBe(true);
});

test.each([
  ['exit 3', 'exited with status 3', 60_000],
  ['kill -9 $$', 'was killed by SIGKILL', 60_000],
  ['trap "" TERM HUP; sleep 1000; sleep 1000', 'did not exit within 300 ms', 300],
  ['setsid sleep 30 & sleep 1000', 'did not exit within 300 ms', 300],
])('%j fails: %s', async (script, words, limitMs) => {
  const { printed, processes } = run(script, { limitMs });
  await expect(printed).rejects.toThrow(`-c ${script} ${words}`);
  expect(await eventually(() => !processes.some(isAlive))).toBe(true);
});

test('endless output fails', async () => {
  const { printed } = run('exec cat /dev/zero');
  await expect(printed).rejects.toThrow('printed too much');
});
