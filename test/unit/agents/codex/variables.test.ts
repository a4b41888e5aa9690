import { expect, test } from 'vitest';
import { scriptedEngine } from '../../../support/scripted-engine.ts';

const variables = (env: Record<string, string>) =>
  scriptedEngine({
    settings: { codexBin: '/p/bin/codex', codexHome: '/p/codex' },
    env: { SWITCHBOARD_CODEX_BIN: '', AGENTS_CODEX_HOME: '', CODEX_HOME: '', ...env },
  }).engine.variables();

test('a nested Switchboard gets our variables for Codex, with absolute paths', () => {
  const env = {
    SWITCHBOARD_CODEX_BIN: 'bin/codex',
    AGENTS_CODEX_HOME: 'codex',
    CODEX_HOME: '/some/codex',
    OPENAI_API_KEY: 'sk-some-key',
    AGENTS_FILTER: 'lead',
  };
  expect(variables(env)).toEqual({
    SWITCHBOARD_CODEX_BIN: '/p/bin/codex',
    AGENTS_CODEX_HOME: '/p/codex',
    CODEX_HOME: '/some/codex',
  });
});

test('settings from files are left to the files, which a nested Switchboard reads itself', () => {
  expect(variables({})).toEqual({});
});
