// Checks with one Switchboard that serves two hosts over HTTP. Each host runs in its own folder.
import { describe, expect } from 'vitest';
import { startServing } from '../../support/serve-http.ts';
import type { HostDriver } from '../drivers/driver.ts';
import { environmentOf } from '../host-session.ts';
import { configureFlip, type HostUnderTest } from '../host-under-test.ts';
import { BOX, callOf, KIT } from '../servers.ts';
import { shared } from '../shared.ts';
import { switchOnAndOff } from './changes.ts';

export function describeOverHttp(host: HostUnderTest): void {
  describe('over HTTP', () => {
    const scene = shared(async (atEnd) => {
      const served = host.createProject({ kit: KIT }, atEnd);
      configureFlip(served, { box: BOX });
      const { url, headers } = await startServing(served, { env: environmentOf(served), atEnd });
      const token = headers['Authorization']?.replace('Bearer ', '') ?? '';
      const open = (driver: HostDriver) =>
        host.start(
          { driver, project: host.createProject({}, atEnd), entry: { url, token } },
          atEnd,
        );
      const [session, other] = await Promise.all([open(host.driver), open(host.partner)]);
      return { served, session, other };
    });

    host.check('http', async () => {
      const { served, session, other } = scene();
      const answers = await Promise.all([
        session.call('kit_suite', callOf('echo', { text: 'for the first' })),
        other.call('kit_suite', callOf('echo', { text: 'for the second' })),
      ]);
      expect(answers[0].text).toContain('for the first');
      expect(answers[1].text).toContain('for the second');
      for (const one of [session, other]) {
        const { text } = await one.call('kit_suite', callOf('roots'));
        expect(text).toContain(`"uri":"file://${served.dir}"`);
      }
    });

    host.check('httpFlip', async () => {
      const { session, other } = scene();
      await switchOnAndOff(session, host.driver.relists);
      await Promise.all([session.end(), other.end()]);
    });
  });
}
