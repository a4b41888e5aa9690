// Chooses the provider: the configured one, the one at the configured address, the first with an API key, or the
// `claude` program with the user's own sign-in. A key never goes to another provider's address, and a query never
// goes to another provider because something is missing.
import { SwitchboardError } from '../base/errors.ts';
import { isOnPath } from '../base/find-program.ts';
import type { AssistantProvider } from '../config/config.ts';
import models from './models.json' with { type: 'json' };
import type { Delegate, Provider } from './provider.ts';
import type { AssistantSettings } from './settings.ts';

export interface ChoiceParts {
  readonly childName: string;
  readonly settings: AssistantSettings;
  readonly env: NodeJS.ProcessEnv;
  /** The server as a separate program, for a delegate. */
  readonly toolServer: ToolServer;
  readonly processes: ProcessParts;
}

/** Lets a later Switchboard find a provider's program if we are killed. */
interface ProcessParts {
  readonly mark: Readonly<Record<string, string>>;
  readonly onProcess: (pid: number) => void;
}

/** Starts a server with the exposed tools of the assistant's server. */
export interface ToolServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ProviderChoice {
  readonly provider: AssistantProvider;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** The environment variable for the key, whether or not it's set. */
  readonly keyVariable: string | undefined;
}

/** Throws, with a hint, if no provider is available. */
export function chooseProvider({
  settings,
  env,
}: Pick<ChoiceParts, 'settings' | 'env'>): ProviderChoice {
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
      // Local models usually don't need a key.
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

/** Lazy: each provider is its own chunk, and the SDK is a large one. */
export async function openProvider(parts: ChoiceParts): Promise<Provider | Delegate> {
  const choice = chooseProvider(parts);
  const { settings, env } = parts;
  const { maxTokens, baseUrl } = settings;
  switch (choice.provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('./providers/anthropic.ts');
      return createAnthropic({ ...choice, maxTokens, env, isElsewhere: baseUrl !== undefined });
    }
    case 'openai': {
      const { createOpenAi } = await import('./providers/openai.ts');
      return createOpenAi({ ...choice, maxTokens, env });
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
  // Nearly every provider at a custom address speaks chat completions.
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
      hint: "Set ANTHROPIC_API_KEY, or OPENAI_API_KEY (with OPENAI_BASE_URL for another provider), in the host's environment, or install Claude Code.",
    },
  );
}

/** Throws, with a hint, if an assistant with these settings has no model. */
export function checkModel(settings: AssistantSettings, env: NodeJS.ProcessEnv): void {
  const { provider } = chooseProvider({ settings, env });
  if (provider !== 'claude-cli' || isOnPath('claude', env)) return;
  throw new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    'The assistant uses the program "claude", which is not on the PATH.',
    { hint: 'Install Claude Code, or choose another provider.' },
  );
}

/** The key from the configured variable, or else from the first of these that is set. */
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
    `assistant.apiKeyEnv names ${apiKeyEnv}, which is not set.`,
    { hint: `Set ${apiKeyEnv} in the host's environment, or remove assistant.apiKeyEnv.` },
  );
}

function noKey(provider: AssistantProvider, variable: string): SwitchboardError {
  return new SwitchboardError(
    'ASSISTANT_NOT_CONFIGURED',
    `The assistant has no API key for the provider "${provider}".`,
    { hint: `Set ${variable} in the host's environment, or choose another provider.` },
  );
}
