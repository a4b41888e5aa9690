import { expect, test } from 'vitest';
import { chooseProvider } from '../../../src/assistant/choose.ts';
import { settleAssistant } from '../../../src/assistant/settings.ts';
import type { AssistantConfig, AssistantProvider } from '../../../src/config/config.ts';

test.each<[AssistantProvider, Record<string, string>]>([
  ['anthropic', { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://usual' }],
  ['openai', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://usual' }],
])('the configured URL overrides the default one of %s', (provider, env) => {
  const addressOf = (said: AssistantConfig) =>
    chooseProvider({ settings: settleAssistant(said, env), env });
  expect(addressOf({ provider, baseUrl: 'http://own' })).toMatchObject({
    provider,
    baseUrl: 'http://own',
  });
  expect(addressOf({})).toMatchObject({ provider, baseUrl: 'http://usual' });
});
