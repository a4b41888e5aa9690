import { expect, test } from 'vitest';
import { environmentOfSelf } from '../../../../src/agents/servers/self-environment.ts';
import { agentSettings } from '../../../support/agent-settings.ts';

const said = (env: Record<string, string>) =>
  environmentOfSelf(
    { agents: agentSettings({ codexBin: '/p/bin/codex', codexHome: '/p/codex' }), home: '/p/sb' },
    env,
  );

test('what is set for us is set below us, with paths that hold in every folder', () => {
  const env = {
    SWITCHBOARD_CODEX_BIN: 'bin/codex',
    AGENTS_CODEX_HOME: 'codex',
    CODEX_HOME: '/some/codex',
    SWITCHBOARD_HOME: 'sb',
    OPENAI_API_KEY: 'sk-some-key',
    AGENTS_FILTER: 'lead',
  };
  expect(said(env)).toEqual({
    SWITCHBOARD_CODEX_BIN: '/p/bin/codex',
    AGENTS_CODEX_HOME: '/p/codex',
    CODEX_HOME: '/some/codex',
    SWITCHBOARD_HOME: '/p/sb',
  });
});

test('what only a file says is left to the files that those below read themselves', () => {
  expect(said({ CODEX_HOME: '' })).toEqual({});
});
