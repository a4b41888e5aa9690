// Checks of what hosts allow without asking: servers that only read.
import { expect } from 'vitest';
import { runSwitchboard } from '../../support/command.ts';
import type { Approval } from '../drivers/driver.ts';
import { configureFlip, type HostUnderTest } from '../host-under-test.ts';
import { BOX, callOf, READER } from '../servers.ts';

export function describeApprovals(host: HostUnderTest): void {
  host.check('defaultPolicy', () => useReadOnlyServer(host, 'default'));
  host.check('planMode', () => useReadOnlyServer(host, 'plan'));
}

async function useReadOnlyServer(host: HostUnderTest, approval: Approval): Promise<void> {
  const project = host.createProject({ reader: READER });
  configureFlip(project, { box: BOX });
  // Switchboard knows what a server's tools do once it has listed them.
  expect(await runSwitchboard(project, ['tools', 'reader'])).toMatchObject({ status: 0 });
  const session = await host.start({ project, approval });
  const { text } = await session.call('reader_suite', { action: 'introspect' });
  expect(text).toContain('"name":"look"');
  expect((await session.call('reader_suite', callOf('look'))).text).toContain('called look');
  expect((await session.call('gateway_status', {})).text).toContain('box');
  await session.end();
}
