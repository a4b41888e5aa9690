import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseProvider } from '../../../src/assistant/choose.ts';
import models from '../../../src/assistant/models.json' with { type: 'json' };
import { settleAssistant } from '../../../src/assistant/settings.ts';
import type { AssistantConfig } from '../../../src/config/config.ts';
import { createProject } from '../../support/project.ts';

const choose = (env: NodeJS.ProcessEnv, said: AssistantConfig = {}) =>
  chooseProvider({ settings: settleAssistant(said, env), env });

describe('the provider', () => {
  test('is the first with a key', () => {
    const both = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: 'http://a' };
    expect(choose(both)).toEqual({
      provider: 'anthropic',
      model: models.anthropic,
      baseUrl: 'http://a',
      apiKey: 'a',
      keyVariable: 'ANTHROPIC_API_KEY',
    });
    expect(choose({ OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: '' })).toEqual({
      provider: 'openai',
      model: models.openai,
      baseUrl: undefined,
      apiKey: 'o',
      keyVariable: 'OPENAI_API_KEY',
    });
    expect(choose({ CLAUDE_API_KEY: 'c' })).toMatchObject({
      provider: 'anthropic',
      apiKey: 'c',
      keyVariable: 'CLAUDE_API_KEY',
    });
  });

  test('is claude if there is no key', () => {
    const project = createProject();
    chmodSync(project.write('claude', '#!/bin/sh\n'), 0o755);
    expect(choose({ PATH: project.dir })).toMatchObject({
      provider: 'claude-cli',
      model: undefined,
    });
    expect(() => choose({ PATH: join(project.dir, 'nowhere') })).toThrow('No model is available');
  });

  test('is the configured one, the environment first', () => {
    const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
    expect(choose(env, { provider: 'openai' }).provider).toBe('openai');
    const named = { ...env, SWITCHBOARD_ASSISTANT_PROVIDER: 'Claude' };
    expect(choose(named, { provider: 'openai' }).provider).toBe('claude-cli');
    expect(() => choose({ OPENAI_API_KEY: 'o' }, { provider: 'anthropic' })).toThrow(
      'The assistant has no API key for the provider "anthropic".',
    );
  });

  test('needs no key at a custom URL', () => {
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' };
    expect(choose(env, { provider: 'openai' }).apiKey).toBeUndefined();
    expect(() => choose({}, { provider: 'openai' })).toThrow(
      'no API key for the provider "openai"',
    );
  });

  test('uses the key from the configured variable', () => {
    const env = { MINE: 'm', ANTHROPIC_API_KEY: 'a' };
    expect(choose(env, { apiKeyEnv: 'MINE' }).apiKey).toBe('m');
  });

  test('is only the one at the configured URL, with or without a key', () => {
    const project = createProject();
    chmodSync(project.write('claude', '#!/bin/sh\n'), 0o755);
    const baseUrl = 'http://127.0.0.1:11434/v1';
    const local = { provider: 'openai', baseUrl, apiKey: undefined };
    expect(choose({ PATH: project.dir }, { baseUrl })).toMatchObject(local);
    expect(choose({ PATH: project.dir, OPENAI_BASE_URL: baseUrl })).toMatchObject(local);
    expect(choose({ ANTHROPIC_API_KEY: 'a' }, { baseUrl })).toMatchObject(local);
    const named = { baseUrl, provider: 'anthropic' } as const;
    expect(choose({ ANTHROPIC_API_KEY: 'a' }, named)).toMatchObject({ ...named, apiKey: 'a' });
  });

  test.each([
    {},
    { provider: 'anthropic' },
    { provider: 'openai' },
    { provider: 'openai', baseUrl: 'http://127.0.0.1:11434/v1' },
  ] as const)('has no other key than that of the variable that is named: %j', (said) => {
    const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', MINE: '' };
    expect(() => choose(env, { ...said, apiKeyEnv: 'MINE' })).toThrow(
      'assistant.apiKeyEnv names MINE, which is not set.',
    );
  });

  test('is not claude if a configured key is missing', () => {
    const project = createProject();
    chmodSync(project.write('claude', '#!/bin/sh\n'), 0o755);
    expect(() => choose({ PATH: project.dir }, { apiKeyEnv: 'MINE' })).toThrow('MINE');
    const claude = { provider: 'claude-cli', apiKeyEnv: 'MINE' } as const;
    expect(choose({ PATH: project.dir }, claude).provider).toBe('claude-cli');
  });

  test('is OpenAI for OpenAI’s key, however it is configured', () => {
    const env = { OPENAI_API_KEY: 'o' };
    expect(choose(env, { apiKeyEnv: 'OPENAI_API_KEY' }).provider).toBe('openai');
  });
});

describe('settings', () => {
  test('come from the files, unless the environment overrides them', () => {
    const said = { model: 'one', role: 'R', timeoutMs: 5, conversationMs: 6 };
    expect(settleAssistant(said, {})).toMatchObject(said);
    const env = {
      SWITCHBOARD_INTELLIGENT_MODEL: 'two',
      SWITCHBOARD_INTELLIGENT_SYSTEM_PROMPT: 'S',
      SWITCHBOARD_CONVERSATION_TIMEOUT_MS: '7',
      SWITCHBOARD_SESSION_IDLE_MS: '0',
    };
    expect(settleAssistant(said, env)).toMatchObject({
      model: 'two',
      role: 'S',
      timeoutMs: 7,
      conversationMs: 0,
    });
    const newer = { ...env, SWITCHBOARD_ASSISTANT_MODEL: 'three' };
    expect(settleAssistant(said, newer).model).toBe('three');
  });

  test.each(['soon', '0', '-1', '1e99'])('a time cannot be %s', (text) => {
    const env = { SWITCHBOARD_CONVERSATION_TIMEOUT_MS: text };
    expect(() => settleAssistant({}, env)).toThrow(
      'SWITCHBOARD_CONVERSATION_TIMEOUT_MS must be a number from 1 to 2147483647.',
    );
  });

  test('defaults apply to the rest', () => {
    expect(settleAssistant(undefined, {})).toMatchInlineSnapshot(`
      {
        "apiKeyEnv": undefined,
        "baseUrl": undefined,
        "conversationMs": 300000,
        "maxResultChars": 50000,
        "maxRounds": 20,
        "maxTokens": 4096,
        "maxTotalTokens": 500000,
        "mode": "loop",
        "model": undefined,
        "provider": undefined,
        "role": undefined,
        "timeoutMs": 120000,
      }
    `);
  });
});
