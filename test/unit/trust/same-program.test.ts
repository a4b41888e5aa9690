import { expect, test } from 'vitest';
import type { Command } from '../../../src/config/config.ts';
import { isSameProgram } from '../../../src/trust/scanner/same-program.ts';

const command = (...[cmd = '', ...args]: string[]) => ({
  command: { cmd, args, env: {} } satisfies Command,
  remote: undefined,
});
const remote = (url: string) => ({
  command: undefined,
  remote: { type: 'http', url, headers: {} } as const,
});

test.each([
  [command('npx', '-y', 'mail', '--account', 'a'), command('npx', 'mail', '--account', 'b')],
  [command('node', '/srv/mail.js', 'a'), command('node', '/srv/mail.js', 'b')],
  [command('mail'), command('mail')],
  [remote('https://mail.example/mcp?a=1'), remote('https://MAIL.example/mcp')],
])('these are one program: %j, %j', (one, other) => {
  expect(isSameProgram(one, other)).toBe(true);
});

test.each([
  [command('npx', 'mail'), command('npx', 'mall')],
  [command('docker', 'run', 'mail'), command('docker', 'run', 'mall')],
  [command('mail', 'a'), command('mall', 'a')],
  [remote('https://mail.example/mcp'), remote('https://mall.example/mcp')],
  [remote('https://mail.example/mcp'), command('mail')],
])('these are two programs: %j, %j', (one, other) => {
  expect(isSameProgram(one, other)).toBe(false);
});
