// Who runs the model: the one that was named, or one at the address that was named, or the first for
// which there is a key, or the program `claude` with the user's own sign-in. What was set for one is never
// used for another: neither goes a key to an address that it is not for, nor a query to somebody else
// because something is missing.
import { SwitchboardError } from '../base/errors.ts';
import type { AssistantProvider } from '../config/config.ts';
import { isOnPath } from '../install/find-program.ts';
import models from './models.json' with { type: 'json' };
import type { Delegate, Provider } from './provider.ts';
import type { AssistantSettings } from './settings.ts';

export interface ChoiceParts {
  readonly childName: string;
  readonly settings: AssistantSettings;
  readonly env: NodeJS.ProcessEnv;
  /** The server as a program of its own, for a provider that uses tools by itself. */
  readonly toolServer: ToolServer;
  readonly processes: ProcessParts;
}

/** How a program that a provider starts is made known, so that it goes even if we are killed. */
interface ProcessParts {
  /** What its environment is marked with. */
  readonly mark: Readonly<Record<string, string>>;
  readonly onProcess: (pid: number) => void;
}

/** What starts a server that has the tools of a child, as far as they may be used. */
export interface ToolServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What was chosen; whether it can be reached shows when it is asked. */
export interface Choice {
  readonly provider: AssistantProvider;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** The variable that the key came from, or that it would be looked for in. */
  readonly keyVariable: string | undefined;
}

/** Throws, with a way out, where there is nothing to choose from. */
export function chooseProvider({ settings, env }: Pick<ChoiceParts, 'settings' | 'env'>): Choice {
  switch (settings.provider ?? firstUsable(settings, env)) {
    case 'anthropic': {
      const key = findKey(settings, env, 'ANTHROPIC_API_KEY', 'CLAUDE_API_KEY');
      if (key.apiKey === undefined) throw noKey('anthropic', key.keyVariable);
      return {
        provider: 'anthropic',
        model: settings.model ?? models.anthropic,
        baseUrl: settings.baseUrl ?? (env['ANTHROPIC_BASE_URL'] || undefined),
        ...key,
      };
    }
    case 'openai': {
      const key = findKey(settings, env, 'OPENAI_API_KEY');
      const baseUrl = settings.baseUrl ?? (env['OPENAI_BASE_URL'] || undefined);
      // One that runs on the user's own machine mostly wants none.
      if (key.apiKey === undefined && baseUrl === undefined) {
        throw noKey('openai', key.keyVariable);
      }
      return { provider: 'openai', model: settings.model ?? models.openai, baseUrl, ...key };
    }
    case 'claude-cli':
      return {
        provider: 'claude-cli',
        model: settings.model,
        baseUrl: undefined,
        apiKey: undefined,
        keyVariable: undefined,
      };
  }
}

/** Loads it: each is a chunk of its own, and the SDK a large one. */
export async function openProvider(parts: ChoiceParts): Promise<Provider | Delegate> {
  const choice = chooseProvider(parts);
  const { maxTokens, baseUrl } = parts.settings;
  switch (choice.provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('./providers/anthropic.ts');
      return createAnthropic({ ...choice, maxTokens, isElsewhere: baseUrl !== undefined });
    }
    case 'openai': {
      const { createOpenAi } = await import('./providers/openai.ts');
      return createOpenAi({ ...choice, maxTokens });
    }
    case 'claude-cli': {
      const { ClaudeCli } = await import('./providers/claude-cli.ts');
      return new ClaudeCli({ ...parts, model: choice.model });
    }
  }
}

function firstUsable(
  { baseUrl, apiKeyEnv }: AssistantSettings,
  env: NodeJS.ProcessEnv,
): AssistantProvider {
  // An address was named: whoever is there, and nobody else. Nearly all speak chat completions.
  if (baseUrl !== undefined) return 'openai';
  const isOpenAiElsewhere = Boolean(env['OPENAI_BASE_URL']);
  if (apiKeyEnv !== undefined) {
    return isOpenAiElsewhere || apiKeyEnv === 'OPENAI_API_KEY' ? 'openai' : 'anthropic';
  }
  if (env['ANTHROPIC_API_KEY'] || env['CLAUDE_API_KEY']) return 'anthropic';
  if (env['OPENAI_API_KEY'] || isOpenAiElsewhere) return 'openai';
  if (isOnPath('claude', env)) return 'claude-cli';
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    'No model is available for the assistant: no API key is set, and the program "claude" is not on the PATH.',
    {
      hint: 'Set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL for another provider), where the host starts Switchboard; or install Claude Code.',
    },
  );
}

/** Throws, with a way out, what keeps an assistant with these settings from having a model. */
export function checkModel(settings: AssistantSettings, env: NodeJS.ProcessEnv): void {
  const { provider } = chooseProvider({ settings, env });
  if (provider !== 'claude-cli' || isOnPath('claude', env)) return;
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    'The assistant uses the program "claude", which is not on the PATH.',
    { hint: 'Install Claude Code, or choose another provider.' },
  );
}

/** The key of the first of these variables that has one; where another was named, of that one alone. */
function findKey(
  { apiKeyEnv }: AssistantSettings,
  env: NodeJS.ProcessEnv,
  ...usual: readonly [string, ...string[]]
): { readonly apiKey: string | undefined; readonly keyVariable: string } {
  if (apiKeyEnv === undefined) {
    const keyVariable = usual.find((name) => env[name]) ?? usual[0];
    return { apiKey: env[keyVariable] || undefined, keyVariable };
  }
  const apiKey = env[apiKeyEnv];
  if (apiKey) return { apiKey, keyVariable: apiKeyEnv };
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    `The assistant's key is to be in ${apiKeyEnv} (assistant.apiKeyEnv), which is not set.`,
    { hint: `Set ${apiKeyEnv} where the host starts Switchboard, or remove assistant.apiKeyEnv.` },
  );
}

function noKey(provider: AssistantProvider, variable: string): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    `The assistant has no key for the provider "${provider}".`,
    { hint: `Set ${variable} where the host starts Switchboard, or choose another provider.` },
  );
}
