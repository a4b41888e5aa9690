import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { eventually } from '../../support/processes.ts';
import { FIXTURES, ROOT } from '../../support/project.ts';
import { startChild } from '../../support/start-child.ts';
import { startOptions } from '../../support/start-options.ts';

/** What is passed on of a text that a server prints. */
async function printedOf(
  text: string,
  behind: ChildConfig | undefined,
  { args: more = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<string> {
  const lines: string[] = [];
  const args = [join(FIXTURES, 'servers/toolbox.mjs'), ...more];
  const command = { cmd: process.execPath, args, env };
  const child = await startChild(
    childConfig({ name: 'kid', command, cwd: ROOT, behind }),
    startOptions({
      env: { ...process.env, TOKEN: 'from-the-environment' },
      onStderr: (line) => lines.push(line),
    }),
  );
  onTestFinished(() => child.stop());
  await child.callTool('say', Verbatim.of({ text }), { cancellation: new Cancellation() });
  expect(await eventually(() => lines.length > 0)).toBe(true);
  return lines.join();
}

test('the secrets of the server behind an assistant are also masked', async () => {
  const text = 'hunter2hunter2 from-the-environment';
  const command = { cmd: 'x', args: [], env: { A: 'hunter2hunter2', B: '${TOKEN}' } };
  expect(await printedOf(text, undefined)).toBe(text);
  expect(await printedOf(text, childConfig({ name: 'kid', command }))).toBe('*** ***');
});

test('so are its headers, and a server that cannot start has none', async () => {
  const headers = { Authorization: 'Bearer hunter2' };
  const remote = { type: 'http', url: 'https://example.com', headers } as const;
  expect(await printedOf('Bearer hunter2', childConfig({ name: 'kid', remote }))).toBe('***');
  const command = { cmd: 'x', args: [], env: { B: '${NOT_SET_ANYWHERE}' } };
  expect(await printedOf('plain', childConfig({ name: 'kid', command }))).toBe('plain');
});

test('so are values of variables in arguments or parts of values', async () => {
  const text = `from-the-environment in ${process.env['HOME']}`;
  const masked = `*** in ${process.env['HOME']}`;
  expect(await printedOf(text, undefined, { args: ['--key=${TOKEN}', '${HOME}/x'] })).toBe(masked);
  expect(await printedOf(text, undefined, { env: { A: 'key ${TOKEN}' } })).toBe(masked);
  const command = { cmd: 'x', args: ['${env:TOKEN}'], env: {} };
  expect(await printedOf(text, childConfig({ name: 'kid', command }))).toBe(masked);
});
