// All checks, run with one host.
import { describe, expect } from 'vitest';
import { eventually } from '../support/processes.ts';
import { describeApprovals } from './checks/approvals.ts';
import { describeChanges } from './checks/changes.ts';
import { describeOneSession } from './checks/one-session.ts';
import { describeOverHttp } from './checks/over-http.ts';
import type { HostDriver } from './drivers/driver.ts';
import { HostUnderTest } from './host-under-test.ts';

export function describeHost(driver: HostDriver, partner: HostDriver): void {
  const host = new HostUnderTest(driver, partner);

  describe.each([driver.id])('%s', () => {
    describeOneSession(host);
    describeChanges(host);
    describeApprovals(host);
    describeOverHttp(host);

    host.check('cleanup', async () => {
      await eventually(() => host.processes.length === 0);
      const left = host.processes;
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      expect(left.map(({ command }) => command)).toEqual([]);
    });
  });
}
