// A server that no configuration of ours declares, as a child with the usual settings: for a short
// look at one that another program has.
import type { ChildConfig } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';

export type DeclaredServer = Pick<
  ChildConfig,
  'name' | 'origin' | 'command' | 'remote' | 'cwd' | 'timeouts'
>;

const NOT_SHOWN = 'it is only looked at';

export function declareServer(declared: DeclaredServer): ChildConfig {
  return {
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
    stderr: 'drop', // its last lines appear in errors all the same
    framing: DEFAULTS.framing,
    protocolVersion: undefined,
    wrapResults: DEFAULTS.wrap,
    assistant: undefined,
    behind: undefined,
  };
}
