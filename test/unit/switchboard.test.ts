import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';
import { processPlace } from '../../src/base/process-table.ts';
import { Switchboard } from '../../src/switchboard.ts';
import { testServer } from '../support/servers.ts';
import { createProject } from './config/temp-project.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child() {} };

test('after a reload, everything uses the new configuration’s paths', async () => {
  const { command, args } = testServer('toolbox');
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        noisy: {
          command: 'sh',
          args: ['-c', `echo hello >&2; exec '${command}' ${args.join(' ')}`],
          stderr: 'log',
        },
      },
    },
  });
  const load = (home: string) => project.load({ env: { SWITCHBOARD_HOME: home } });
  const [before, after] = [await load('../before'), await load('../after')];
  await using switchboard = new Switchboard({
    config: before,
    log: SILENT,
    environment: process.env,
  });
  switchboard.update(after, []);

  await switchboard.pool.use('noisy', new Cancellation());
  const logFile = join(after.home, 'logs/servers/noisy.log');
  await vi.waitFor(() => expect(readFileSync(logFile, 'utf8')).toContain('hello'));
  expect(existsSync(join(before.home, 'logs'))).toBe(false);

  // What a program that is gone has noted is removed where it is looked for.
  mkdirSync(join(after.home, 'run'), { recursive: true });
  const note = join(after.home, 'run', `${2 ** 30}-a-b`);
  writeFileSync(note, JSON.stringify({ start: '1', place: processPlace(), groups: [] }));
  await switchboard.stopOrphans();
  expect(existsSync(note)).toBe(false);
});
