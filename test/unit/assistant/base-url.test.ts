import { expect, test } from 'vitest';
import { chooseProvider } from '../../../src/assistant/choose.ts';
import { settleAssistant } from '../../../src/assistant/settings.ts';

test.each([
  ['anthropic', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://usual' }],
  ['openai', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://usual' }],
])('the address in the files is stronger than the usual one of %s', (provider, env) => {
  const addressOf = (said: { baseUrl?: string }) =>
    chooseProvider({ settings: settleAssistant(said, env), env });
  expect(addressOf({ baseUrl: 'http://own' })).toMatchObject({ provider, baseUrl: 'http://own' });
  expect(addressOf({})).toMatchObject({ provider, baseUrl: 'http://usual' });
});
