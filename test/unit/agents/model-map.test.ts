// Every token of the built-in map, and what a file and the settings change about it.
import { describe, expect, test } from 'vitest';
import { createAgents } from './temp-agents.ts';

const MAP = 'project/.agents/model-map.toml';

/** What a model and a provider become. */
async function mapped(
  run: { model?: string; provider?: string },
  { map, usersProvider, ...said }: Record<string, unknown> = {},
) {
  const lines = [
    ...(run.model === undefined ? [] : [`model = ${JSON.stringify(run.model)}`]),
    ...(run.provider === undefined ? [] : [`model_provider = ${JSON.stringify(run.provider)}`]),
  ];
  const agents = createAgents({
    'project/.agents/a.toml': `name = "A"\n[run]\n${lines.join('\n')}\n`,
  });
  if (typeof map === 'string') agents.write(MAP, map);
  const { run: result, warnings } = await agents.loadOnly(
    said,
    usersProvider as string | undefined,
  );
  return { ...result, warnings: agents.plain(warnings) };
}

const BUILT_IN: [token: string, model: string][] = [
  ['sonnet', 'gpt-5'],
  ['opus', 'gpt-5'],
  ['haiku', 'gpt-5-mini'],
  ['Claude Sonnet 3.5', 'gpt-5'],
  ['Claude Sonnet 3.7', 'gpt-5'],
  ['Claude 3.7', 'gpt-5'],
  ['Claude 3.7 Thinking', 'gpt-5'],
  ['Claude Sonnet 4', 'gpt-5'],
  ['Claude Sonnet 4.5', 'gpt-5'],
  ['Claude Opus 4', 'gpt-5'],
  ['Claude Opus 4.1', 'gpt-5'],
  ['Claude Haiku 3', 'gpt-5-mini'],
  ['Claude Haiku 3.5', 'gpt-5-mini'],
  ['Gemini 2.5 Pro', 'gpt-5'],
  ['Auto', 'gpt-5'],
  ['GPT-4.1', 'gpt-4.1'],
  ['GPT-4o', 'gpt-4o'],
  ['GPT-5 mini (Preview)', 'gpt-5-mini'],
  ['GPT-5 mini', 'gpt-5-mini'],
  ['o3-mini', 'o3-mini'],
];

test.each(BUILT_IN)('%s is openai’s %s, in any case', async (token, model) => {
  for (const written of [
    token,
    token.toUpperCase(),
    ` ${token.toLowerCase().replaceAll(' ', '  ')} `,
  ]) {
    expect(await mapped({ model: written })).toEqual({
      model,
      provider: 'openai',
      warnings: [],
    });
  }
});

test.each(['gpt-5', 'gpt-5-mini', 'GPT-5'])(
  '%s is already an engine model, so no provider is set',
  async (model) => {
    expect(await mapped({ model })).toEqual({ model: model.toLowerCase(), warnings: [] });
  },
);

describe('a user whose Codex configuration names a provider', () => {
  const usersProvider = 'azure';

  test.each([...BUILT_IN, ['gpt-5', 'gpt-5']])('keeps it for %s', async (token, model) => {
    expect(await mapped({ model: token }, { usersProvider })).toEqual({ model, warnings: [] });
  });

  test('keeps it even if the map may override the agent’s', async () => {
    const settings = { usersProvider, modelMapOverrideProvider: true };
    expect(await mapped({ model: 'sonnet', provider: 'Claude' }, settings)).toEqual({
      model: 'gpt-5',
      warnings: [],
    });
  });

  test('gets the provider the agent names', async () => {
    expect(await mapped({ model: 'gpt-4o', provider: 'mine' }, { usersProvider })).toMatchObject({
      provider: 'mine',
    });
  });

  test('gets the provider from their own model map', async () => {
    const map = '[[mappings]]\ntoken = "sonnet"\nto_model = "big"\nto_provider = "mine"\n';
    expect(await mapped({ model: 'sonnet' }, { map, usersProvider })).toEqual({
      model: 'big',
      provider: 'mine',
      warnings: [],
    });
  });
});

test('an unknown model stays unchanged', async () => {
  expect(await mapped({ model: 'gpt-4o-mini' })).toEqual({ model: 'gpt-4o-mini', warnings: [] });
});

test('a missing model stays missing', async () => {
  expect(await mapped({})).toEqual({ warnings: [] });
});

test('mapping can be switched off', async () => {
  expect(await mapped({ model: 'sonnet', provider: 'Claude' }, { modelMapEnable: false })).toEqual({
    model: 'sonnet',
    provider: 'Claude',
    warnings: [],
  });
});

describe('settings', () => {
  test('strict: an unknown model is reported and kept', async () => {
    expect(await mapped({ model: 'mystery' }, { modelMapStrict: true })).toEqual({
      model: 'mystery',
      warnings: [
        'project/.agents/a.toml: model: "mystery" is not in the model map; it is passed to the engine unchanged.',
      ],
    });
  });

  test('an unmapped model may have any provider', async () => {
    expect(await mapped({ model: 'gpt-5-mini', provider: 'mine' })).toEqual({
      model: 'gpt-5-mini',
      provider: 'mine',
      warnings: [],
    });
  });

  test('a given provider is kept, unless it may be overridden', async () => {
    expect(await mapped({ model: 'sonnet', provider: 'mine' })).toMatchObject({
      model: 'gpt-5',
      provider: 'mine',
      warnings: [
        expect.stringContaining(
          '"sonnet" maps to "gpt-5" from openai, but the file names the provider mine.',
        ),
      ],
    });
    expect(
      await mapped({ model: 'sonnet', provider: 'mine' }, { modelMapOverrideProvider: true }),
    ).toEqual({
      model: 'gpt-5',
      provider: 'openai',
      warnings: [],
    });
  });

  test.each([
    ['OpenAI', 'openai'],
    ['Anthropic', 'anthropic'],
    ['Claude', 'anthropic'],
    ['CLAUDE', 'anthropic'],
    ['other', 'other'],
  ])('the provider %s becomes %s, if names are normalised', async (provider, expected) => {
    expect(await mapped({ provider })).toEqual({ provider: expected, warnings: [] });
    expect(await mapped({ provider }, { modelMapNormalizeProvider: false })).toEqual({
      provider,
      warnings: [],
    });
  });
});

describe('a file', () => {
  const DOCUMENTED = `[[mappings]]
token = "GPT-4.1"
to_model = "gpt-4.1"
to_provider = "openai"

[[mappings]]
token = "sonnet"
to_model = "claude-3-5-sonnet-latest"
to_provider = "anthropic"

[[mappings]]
token = "o3"
to_model = "o3"
to_provider = "openai"
aliases = ["O3", "OpenAI O3"]

[provider_aliases]
OpenAI = "openai"
Anthropic = "anthropic"
Claude = "anthropic"
Acme = "acme-inference"
`;

  test.each([
    ['sonnet', 'claude-3-5-sonnet-latest', 'anthropic'],
    ['openai o3', 'o3', 'openai'],
    ['haiku', 'gpt-5-mini', 'openai'],
    ['Auto', 'gpt-5', 'openai'],
  ])('overrides the built-in map, which still applies: %s', async (model, toModel, provider) => {
    expect(await mapped({ model }, { map: DOCUMENTED })).toEqual({
      model: toModel,
      provider,
      warnings: [],
    });
  });

  test('can have its own providers', async () => {
    expect(await mapped({ provider: 'ACME' }, { map: DOCUMENTED })).toMatchObject({
      provider: 'acme-inference',
    });
  });

  test('may leave the provider unset', async () => {
    const map = '[[mappings]]\ntoken = "x"\nto_model = "y"\n';
    expect(await mapped({ model: 'x' }, { map })).toEqual({ model: 'y', warnings: [] });
  });

  test.each([
    ['mappings = 3\n', [`${MAP}:1: mappings: expected [[mappings]]. Ignored.`]],
    [
      '[[mappings]]\ntoken = "x"\n',
      [`${MAP}:1: mappings[0]: token and to_model are required. Ignored.`],
    ],
    ['provider_aliases = []\n', [`${MAP}:1: provider_aliases: expected a table. Ignored.`]],
    [
      '[[mappings]\n',
      [expect.stringMatching(/model-map\.toml:1: Invalid TOML: .* Using the built-in map\.$/)],
    ],
  ])('with mistakes is reported, and the rest applies: %j', async (map, warnings) => {
    expect(await mapped({ model: 'sonnet' }, { map })).toEqual({
      model: 'gpt-5',
      provider: 'openai',
      warnings,
    });
  });

  test('in another location is used, and must exist', async () => {
    const agents = createAgents({
      'project/.agents/a.toml': 'name = "A"\n[run]\nmodel = "x"\n',
      [MAP]: '[[mappings]]\ntoken = "x"\nto_model = "not this"\n',
      'user/map.toml': '[[mappings]]\ntoken = "x"\nto_model = "y"\n',
    });
    expect(await agents.loadOnly({ modelMapFile: agents.path('user/map.toml') })).toMatchObject({
      run: { model: 'y' },
      warnings: [],
    });
    const { run, warnings } = await agents.loadOnly({
      modelMapFile: agents.path('user/gone.toml'),
    });
    expect(run).toEqual({ model: 'x' });
    expect(agents.plain(warnings)).toEqual([
      'user/gone.toml: It does not exist. Using the built-in map.',
    ]);
  });
});

test('a map full of mistakes is reported within limits, and quickly', async () => {
  const { model, warnings } = await mapped(
    { model: 'sonnet' },
    { map: '[[mappings]]\n'.repeat(20_000) },
  );
  expect(model).toBe('gpt-5');
  expect(warnings.length).toBeLessThan(50);
});
