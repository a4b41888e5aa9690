// Wraps a server from another program's configuration with default settings, so its tools can be listed.
import type { ChildConfig } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';

export type DeclaredServer = Pick<
  ChildConfig,
  'name' | 'origin' | 'command' | 'remote' | 'cwd' | 'timeouts'
> &
  Partial<Pick<ChildConfig, 'toolChanges' | 'sandbox'>>;

const NOT_SHOWN = 'it is only started to list its tools';

export function declareServer(declared: DeclaredServer): ChildConfig {
  return {
    toolChanges: DEFAULTS.toolChanges,
    sandbox: undefined,
    ...declared,
    show: 'off',
    showBecause: NOT_SHOWN,
    start: 'lazy',
    startBecause: NOT_SHOWN,
    idleMs: 0,
    idleBecause: NOT_SHOWN,
    problem: undefined,
    isCwdGiven: true,
    description: undefined,
    switchboardDescription: undefined,
    suiteName: undefined,
    keywords: undefined,
    suiteDescription: undefined,
    notedDescription: undefined,
    derivedDescription: undefined,
    role: undefined,
    expose: { allow: undefined, deny: undefined },
    readOnlyTool: false,
    introspection: DEFAULTS.introspection,
    messageBytes: DEFAULTS.messageBytes,
    messageShape: DEFAULTS.messageShape,
    environment: DEFAULTS.environment,
    passEnv: [],
    share: 'session',
    shareBecause: NOT_SHOWN,
    lingerMs: DEFAULTS.lingerMs,
    maxMemoryMb: undefined,
    stderr: 'drop', // errors still include the last lines
    framing: DEFAULTS.framing,
    protocolVersion: undefined,
    wrapResults: DEFAULTS.wrap,
    resultSecrets: DEFAULTS.resultSecrets,
    redact: [],
    assistant: undefined,
    behind: undefined,
  };
}
