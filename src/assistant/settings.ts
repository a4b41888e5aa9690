// What holds for an assistant: the environment's word, or that of the files, or what is usual.
import { SwitchboardError } from '../base/errors.ts';
import {
  ASSISTANT_PROVIDERS,
  type AssistantConfig,
  type AssistantProvider,
} from '../config/config.ts';
import { DEFAULTS, LONGEST_MS } from '../config/defaults.ts';

export interface AssistantSettings {
  readonly mode: 'loop' | 'single';
  /** Undefined for the first that can be used. */
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
  said: AssistantConfig | undefined,
  env: NodeJS.ProcessEnv,
): AssistantSettings {
  const usual = DEFAULTS.assistant;
  return {
    mode: said?.mode ?? usual.mode,
    provider: providerIn(env) ?? said?.provider,
    model:
      env['SWITCHBOARD_ASSISTANT_MODEL'] || env['SWITCHBOARD_INTELLIGENT_MODEL'] || said?.model,
    baseUrl: said?.baseUrl,
    apiKeyEnv: said?.apiKeyEnv,
    role: env['SWITCHBOARD_INTELLIGENT_SYSTEM_PROMPT'] || said?.role,
    maxRounds: said?.maxRounds ?? usual.maxRounds,
    timeoutMs:
      millisecondsIn(env, 'SWITCHBOARD_CONVERSATION_TIMEOUT_MS', 1) ??
      said?.timeoutMs ??
      usual.timeoutMs,
    maxResultChars: said?.maxResultChars ?? usual.maxResultChars,
    maxTokens: said?.maxTokens ?? usual.maxTokens,
    maxTotalTokens: said?.maxTotalTokens ?? usual.maxTotalTokens,
    conversationMs:
      millisecondsIn(env, 'SWITCHBOARD_SESSION_IDLE_MS', 0) ??
      said?.conversationMs ??
      usual.conversationMs,
  };
}

/** A time that a variable says; an empty variable says nothing. */
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
    `${variable} is not a number from ${least} to ${LONGEST_MS}.`,
    { hint: 'It is a time in milliseconds.' },
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
    `SWITCHBOARD_ASSISTANT_PROVIDER says "${text.slice(0, 40)}", which is no provider.`,
    { hint: `There are: ${ASSISTANT_PROVIDERS.join(', ')}.` },
  );
}
