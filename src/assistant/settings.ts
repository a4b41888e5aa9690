// An assistant's effective settings: the environment, then the files, then the defaults.
import { SwitchboardError } from '../base/errors.ts';
import {
  ASSISTANT_PROVIDERS,
  type AssistantConfig,
  type AssistantProvider,
} from '../config/config.ts';
import { DEFAULTS, LONGEST_MS } from '../config/defaults.ts';

export interface AssistantSettings {
  readonly mode: 'loop' | 'single';
  /** Undefined for the first one available. */
  readonly provider: AssistantProvider | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly apiKeyEnv: string | undefined;
  readonly role: string | undefined;
  readonly maxRounds: number;
  readonly timeoutMs: number;
  readonly maxResultChars: number;
  readonly maxTokens: number;
  readonly maxTotalTokens: number;
  readonly conversationMs: number;
}

export function settleAssistant(
  written: AssistantConfig | undefined,
  env: NodeJS.ProcessEnv,
): AssistantSettings {
  const defaults = DEFAULTS.assistant;
  return {
    mode: written?.mode ?? defaults.mode,
    provider: providerIn(env) ?? written?.provider,
    model:
      env['SWITCHBOARD_ASSISTANT_MODEL'] || env['SWITCHBOARD_INTELLIGENT_MODEL'] || written?.model,
    baseUrl: written?.baseUrl,
    apiKeyEnv: written?.apiKeyEnv,
    role: env['SWITCHBOARD_INTELLIGENT_SYSTEM_PROMPT'] || written?.role,
    maxRounds: written?.maxRounds ?? defaults.maxRounds,
    timeoutMs:
      millisecondsIn(env, 'SWITCHBOARD_CONVERSATION_TIMEOUT_MS', 1) ??
      written?.timeoutMs ??
      defaults.timeoutMs,
    maxResultChars: written?.maxResultChars ?? defaults.maxResultChars,
    maxTokens: written?.maxTokens ?? defaults.maxTokens,
    maxTotalTokens: written?.maxTotalTokens ?? defaults.maxTotalTokens,
    conversationMs:
      millisecondsIn(env, 'SWITCHBOARD_SESSION_IDLE_MS', 0) ??
      written?.conversationMs ??
      defaults.conversationMs,
  };
}

/** A duration from an environment variable, if set. */
export function millisecondsIn(
  env: NodeJS.ProcessEnv,
  variable: string,
  least: 0 | 1,
): number | undefined {
  const text = env[variable]?.trim();
  if (!text) return undefined;
  const ms = Number(text);
  if (ms >= least && ms <= LONGEST_MS) return ms;
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `${variable} must be a number from ${least} to ${LONGEST_MS}.`,
    { hint: 'The value is in milliseconds.' },
  );
}

function providerIn(env: NodeJS.ProcessEnv): AssistantProvider | undefined {
  const text = env['SWITCHBOARD_ASSISTANT_PROVIDER']?.trim().toLowerCase();
  if (!text) return undefined;
  const known = ASSISTANT_PROVIDERS.find((name) => name === text);
  if (known) return known;
  if (text === 'claude') return 'claude-cli';
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `SWITCHBOARD_ASSISTANT_PROVIDER is "${text.slice(0, 40)}", which is not a provider.`,
    { hint: `Use one of: ${ASSISTANT_PROVIDERS.join(', ')}.` },
  );
}
