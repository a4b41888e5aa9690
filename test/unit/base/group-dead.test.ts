// Groups of processes that have ended and that nobody has asked about: nothing of them runs any more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { isGroupAlive } from '../../../src/base/process.ts';
import { isGroupDead } from '../../../src/base/process-table.ts';
import { eventually, processesWith } from '../../support/processes.ts';

test.runIf(process.platform === 'linux')(
  'a group of the dead is told from one that lives',
  async () => {
    // A process in a group of its own ends, and the one that it belongs to never asks about it.
    const script = 'set -m; sleep 1000 & echo $!; exec sleep 1001';
    const parent = spawn('bash', ['-c', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
    const dead = Number(printed.toString());
    const isParentAsleep = () =>
      processesWith('sleep 1001').some(
        ({ pid, command }) => pid === parent.pid && command.startsWith('sleep'),
      );
    expect(await eventually(isParentAsleep)).toBe(true);
    expect(isGroupDead(dead)).toBe(false);
    process.kill(dead, 'SIGKILL');
    expect(await eventually(() => isGroupDead(dead))).toBe(true);
    expect(isGroupAlive(dead)).toBe(true);
    expect(isGroupDead(parent.pid ?? 0)).toBe(false);
  },
);
