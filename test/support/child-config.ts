// A server's resolved configuration with the defaults, for tests that need only part of it.
import type { ChildConfig } from '../../src/config/config.ts';
import { declareServer } from '../../src/config/server/declare.ts';

const UNSAID = 'default';

export function childConfig(some: Partial<ChildConfig> & { name: string }): ChildConfig {
  return {
    ...declareServer({
      name: some.name,
      origin: '/project/switchboard.config.json',
      command: { cmd: 'server', args: [], env: {} },
      remote: undefined,
      cwd: '/project',
      timeouts: { spawnMs: 8_000, rpcMs: 60_000, stopMs: 2_000 },
    }),
    show: 'suite',
    showBecause: UNSAID,
    startBecause: UNSAID,
    idleMs: 600_000,
    idleBecause: UNSAID,
    stderr: 'inherit',
    ...some,
  };
}
