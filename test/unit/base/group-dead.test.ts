// Groups of processes that have ended and that nobody has asked about: nothing of them runs any more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { isGroupAlive } from '../../../src/base/process.ts';
import { isGroupDead } from '../../../src/base/process-table.ts';
import { eventually } from '../../support/processes.ts';

test.runIf(process.platform === 'linux')(
  'a group of the dead is told from one that lives',
  async () => {
    // A process in a group of its own ends, and the one that it belongs to never asks about it.
    const script = 'set -m; true & echo $!; exec sleep 1000';
    const parent = spawn('bash', ['-c', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
    const dead = Number(printed.toString());
    expect(await eventually(() => isGroupDead(dead))).toBe(true);
    expect(isGroupAlive(dead)).toBe(true);
    expect(isGroupDead(parent.pid ?? 0)).toBe(false);
  },
);
