// The model names in other programs' agent files, and the models Codex runs instead. Users can
// override entries with a file (`model-map.ts`).
import type { ModelEntry, ModelTable } from '../engine.ts';

const MODELS: readonly ModelEntry[] = [
  {
    model: 'gpt-5',
    provider: 'openai',
    tokens: [
      'sonnet',
      'opus',
      'fable',
      'Auto',
      'Gemini 2.5 Pro',
      'Claude Sonnet 3.5',
      'Claude Sonnet 3.7',
      'Claude 3.7',
      'Claude 3.7 Thinking',
      'Claude Sonnet 4',
      'Claude Sonnet 4.5',
      'Claude Opus 4',
      'Claude Opus 4.1',
      'Claude Opus 4.5',
    ],
  },
  {
    model: 'gpt-5-mini',
    provider: 'openai',
    tokens: [
      'haiku',
      'Claude Haiku 3',
      'Claude Haiku 3.5',
      'Claude Haiku 4.5',
      'GPT-5 mini',
      'GPT-5 mini (Preview)',
    ],
  },
  // Codex's own names, with any provider.
  { model: 'gpt-5', provider: undefined, tokens: ['gpt-5'] },
  { model: 'gpt-5-mini', provider: undefined, tokens: ['gpt-5-mini'] },
  { model: 'gpt-4.1', provider: 'openai', tokens: ['GPT-4.1'] },
  { model: 'gpt-4o', provider: 'openai', tokens: ['GPT-4o'] },
  { model: 'o3-mini', provider: 'openai', tokens: ['o3-mini'] },
];

const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  OpenAI: 'openai',
  Anthropic: 'anthropic',
  Claude: 'anthropic',
};

export const MODEL_TABLE: ModelTable = {
  models: MODELS,
  providerAliases: PROVIDER_ALIASES,
  defaultProvider: 'openai',
};
