// Changes in mid-session: servers that are switched on and off, and a reload.
import { expect } from 'vitest';
import { runSwitchboard } from '../../support/command.ts';
import type { HostSession } from '../host-session.ts';
import { configure, configureFlip, type HostUnderTest } from '../host-under-test.ts';
import { BOX, callOf, KIT, SLOW_BOX } from '../servers.ts';

export function describeChanges(host: HostUnderTest): void {
  host.check('flip', async () => {
    const project = host.createProject();
    configureFlip(project, { box: SLOW_BOX });
    const session = await host.start({ project });
    await switchOnAndOff(session, host.driver.relists);
    await session.end();
  });

  host.check('reload', async () => {
    const project = host.createProject({ kit: KIT });
    const session = await host.start({ project });
    const echo = (suite: string, text: string) => session.call(suite, callOf('echo', { text }));
    expect((await echo('kit_suite', 'before')).text).toContain('before');
    // Adds the first flip server, as new users do.
    configureFlip(project, { box: BOX });
    configure(project, { kit: KIT, late: BOX });
    const { status, stdout } = await runSwitchboard(project, ['reload']);
    expect([status, stdout]).toEqual([0, expect.stringContaining(project.dir)]);
    expect((await echo('kit_suite', 'after')).text).toContain('after');
    if (host.driver.relists) {
      await untilOffered(session, 'late_suite', true, () => echo('kit_suite', 'meanwhile'));
      expect((await echo('late_suite', 'late')).text).toContain('late');
    }
    await session.end();
  });
}

/** Switches `box` on, uses one of its tools, and switches it off. */
export async function switchOnAndOff(session: HostSession, relists: boolean): Promise<void> {
  const status = async () => (await session.call('gateway_status', {})).text;
  expect(await session.finds('gateway_activate')).toBe(true);
  const { text } = await session.call('gateway_activate', { name: 'box' });
  expect(text).not.toContain('not ready');
  if (relists) {
    await untilOffered(session, 'where_am_i', true, status);
    expect((await session.call('where_am_i', {})).text).toContain('"pid":');
  } else {
    // This host never lists them, so the model must not expect them.
    expect(text).not.toContain('injected');
    expect((await session.call('box_suite', callOf('where_am_i'))).text).toContain('"pid":');
  }
  expect(await status()).toContain('box: active');
  await session.call('gateway_deactivate', { name: 'box' });
  expect(await status()).toContain('box: ready');
  if (!relists) return;
  await untilOffered(session, 'where_am_i', false, status);
  expect((await session.call('where_am_i', {})).text).not.toContain('"pid":');
}

/** Hosts refresh their list with a delay, so the model keeps calling tools until the change shows. */
async function untilOffered(
  session: HostSession,
  tool: string,
  isWanted: boolean,
  work: () => Promise<unknown>,
): Promise<void> {
  const goOn = async (): Promise<boolean> => {
    if (session.offers(tool) !== isWanted) await work();
    return session.offers(tool);
  };
  await expect.poll(goOn, { interval: 100 }).toBe(isWanted);
}
