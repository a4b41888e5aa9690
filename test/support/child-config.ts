// A child's settled configuration with the defaults, for tests that need only some of it.
import type { ChildConfig } from '../../src/config/config.ts';

export function childConfig(some: Partial<ChildConfig> & { name: string }): ChildConfig {
  return {
    origin: '/project/switchboard.config.json',
    show: 'suite',
    showBecause: 'no file says otherwise',
    start: 'lazy',
    startBecause: 'no file says otherwise',
    idleMs: 600_000,
    idleBecause: 'no file says otherwise',
    command: { cmd: 'server', args: [], env: {} },
    remote: undefined,
    problem: undefined,
    cwd: '/project',
    description: undefined,
    switchboardDescription: undefined,
    suiteName: undefined,
    keywords: undefined,
    suiteDescription: undefined,
    notedDescription: undefined,
    role: undefined,
    expose: { allow: undefined, deny: undefined },
    introspection: { mode: 'summary', summaryMaxChars: 160 },
    timeouts: { spawnMs: 8_000, rpcMs: 60_000, stopMs: 2_000 },
    messageBytes: 16 << 20,
    environment: 'inherit',
    stderr: 'inherit',
    framing: 'auto',
    protocolVersion: undefined,
    wrapResults: 'mcp',
    assistant: undefined,
    behind: undefined,
    ...some,
  };
}
