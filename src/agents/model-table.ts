// What models are called in other programs' agents, and what the engine is told instead. A table alone;
// users put theirs over it with a file (`model-map.ts`).

export interface ModelEntry {
  readonly tokens: readonly string[];
  readonly model: string;
  readonly provider: string | undefined;
}

export const MODELS: readonly ModelEntry[] = [
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
  // The engine's own names, whoever provides the model.
  { model: 'gpt-5', provider: undefined, tokens: ['gpt-5'] },
  { model: 'gpt-5-mini', provider: undefined, tokens: ['gpt-5-mini'] },
  { model: 'gpt-4.1', provider: 'openai', tokens: ['GPT-4.1'] },
  { model: 'gpt-4o', provider: 'openai', tokens: ['GPT-4o'] },
  { model: 'o3-mini', provider: 'openai', tokens: ['o3-mini'] },
];

/** Other names of providers, in any case of letters, and the one that the engine knows. */
export const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  OpenAI: 'openai',
  Anthropic: 'anthropic',
  Claude: 'anthropic',
};
