// Default values and limits of the configuration.

/** The longest delay setTimeout supports: beyond it, it fires immediately. */
export const LONGEST_MS = 2 ** 31 - 1;

export const DEFAULTS = {
  discoverGlobs: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'],
  timeouts: { childSpawnMs: 8000, rpcMs: 60_000, stopMs: 2000, questionMs: 600_000 },
  messageBytes: 16 * 1024 * 1024,
  messageShape: { depth: 1_000, members: 2_000_000 },
  introspection: { mode: 'summary', summaryMaxChars: 160 },
  toolChanges: 'scan',
  environment: 'inherit',
  permission: 'allow',
  framing: 'auto',
  stderr: 'inherit',
  wrap: 'mcp',
  resultSecrets: 'pass',
  idleMs: 600_000,
  lingerMs: 0,
  flipSuites: 'auto',
  era: 'auto',
  audit: { required: false, maxFileBytes: 10 * 1024 * 1024, keepDays: 90 },
  hookMs: 5_000,
  assistant: {
    mode: 'loop',
    maxRounds: 20,
    timeoutMs: 120_000,
    maxResultChars: 50_000,
    maxTokens: 4_096,
    maxTotalTokens: 500_000,
    conversationMs: 300_000,
  },
} as const;
