// docs/agents.md is the reference of agents: every flag that the program reads stands there, and none that it
// does not read; and what it shows as an example is one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { findStale } from '../../scripts/generate.ts';
import { MODEL_TABLE } from '../../src/agents/codex/model-table.ts';
import { toolTableOf } from '../../src/agents/tool-tables.ts';
import { AGENT_KEYS } from '../../src/config/settings/agent-keys.ts';
import { LOG_KEYS } from '../../src/config/settings/logging.ts';
import type { Setting, SettingValue } from '../../src/config/settings/sources.ts';
import { ROOT } from '../support/project.ts';
import { createAgents } from '../unit/agents/temp-agents.ts';
import { createProject } from '../unit/config/temp-project.ts';

const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
const logPage = readFileSync(join(ROOT, 'docs/logging.md'), 'utf8');

const agentSettings = Object.entries<Setting<SettingValue>>(AGENT_KEYS);
const logSettings = Object.values<Setting<SettingValue>>(LOG_KEYS);

/** Variables of the system and of other programs, which are not ours to explain. */
const OTHERS = [
  'BROWSER',
  'CLAUDE_CONFIG_DIR',
  'CODEX_API_KEY',
  'CODEX_HOME',
  'HOME',
  'MCP_TOOL_TIMEOUT',
  'NO_COLOR',
  'NPM_CONFIG_CACHE',
  'OPENAI_API_KEY',
  'PATH',
  'PATHEXT',
  'TERM',
  'TMPDIR',
  'USERPROFILE',
  'UV_CACHE_DIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
];

/** The cells of the rows of a table, by its head. */
function rowsBelow(head: string, text = page): string[][] {
  const lines = text.slice(text.indexOf(`\n${head}\n`) + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** The ways in which source files read variables. */
const READING = [
  /\benv\['([A-Z][A-Z0-9_]+)'\]/g,
  /\bvariable: '([A-Z][A-Z0-9_]+)'/g,
  /\{ ([A-Z][A-Z0-9_]+): \w+ \}(?:: NodeJS\.ProcessEnv| = env\b)/g,
  /\breadAmount\('([A-Z][A-Z0-9_]+)'/g,
];

/** Every variable that some source file reads. */
function variablesRead(): string[] {
  const folder = join(ROOT, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const text = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const found = READING.flatMap((pattern) => Array.from(text.matchAll(pattern)));
  return [...new Set(found.map(([, name = '']) => name))];
}

function variablesIn(text: string): string[] {
  const names = text.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bHOST\b|\bPORT\b|\bTRANSPORT\b/g);
  return [...new Set(names)];
}

test('the tables are as the program has them', () => {
  expect(findStale()).toEqual([]);
});

test('every setting for agents stands there with its key, its key in config.toml and its default', () => {
  const head = '| variable | key in `agents` | key in config.toml | default | meaning |';
  expect(rowsBelow(head).map((cells) => cells.slice(0, 4))).toEqual(
    agentSettings.map(([key, { variable, toml, tomlAdds, default: usual }]) => [
      variable,
      key,
      toml ?? tomlAdds ?? '',
      String(usual ?? ''),
    ]),
  );
});

test('every setting for the log stands there', () => {
  const head = '| variable | key in config.toml | default | meaning |';
  expect(rowsBelow(head, logPage).map((cells) => cells.slice(0, 3))).toEqual(
    logSettings.map(({ variable, toml, default: usual }) => [
      variable,
      toml ?? '',
      String(usual ?? ''),
    ]),
  );
});

describe('variables', () => {
  const read = variablesRead();

  test('that the program reads are found at all', () => {
    expect(read).toEqual(
      expect.arrayContaining(['AGENTS_DIRS', 'RUST_LOG', 'PING_SECS', 'SWITCHBOARD_DEPTH', 'HOST']),
    );
  });

  test('that the program reads are all documented', () => {
    const docs = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
    const documented = variablesIn(
      docs.map((file) => readFileSync(join(ROOT, 'docs', file), 'utf8')).join('\n'),
    );
    expect(read.filter((name) => !documented.includes(name) && !OTHERS.includes(name))).toEqual([]);
  });

  test('that stand in the reference are all read', () => {
    const prose = page.replaceAll(/^```.*?^```/gms, '');
    const known = new Set([...read, ...OTHERS]);
    // `AGENTS_ENABLE_…` stands for several.
    const named = variablesIn(prose).filter((name) => !/^(AGENTS_ENABLE|YYYY)/.test(name));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('names of other programs', () => {
  const quoted = new Set([...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text));
  const inAnyCase = new Set([...quoted].map((text) => text.toLowerCase()));

  test.each(['switchboard-toml', 'codex-toml', 'claude', 'chatmode', 'copilot'] as const)(
    'for tools in %s all stand there',
    (dialect) => {
      const table = toolTableOf(dialect);
      const documented = table.isCaseSensitive ? quoted : inAnyCase;
      const names = [...table.meanings.keys()];
      expect(names.filter((name) => !documented.has(name))).toEqual([]);
      expect(table.sets.filter((name) => !documented.has(`${name}/…`))).toEqual([]);
    },
  );

  test('for models and providers all stand there, and what they become', () => {
    const names = MODEL_TABLE.models.flatMap(({ tokens, model, provider = model }) =>
      tokens.concat(model, provider),
    );
    const providers = Object.entries(MODEL_TABLE.providerAliases).flat();
    expect([...names, ...providers].filter((name) => !quoted.has(name))).toEqual([]);
  });
});

describe('examples', () => {
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
      ([, text = '']) => text,
    );

  test('are TOML, JSON and YAML', () => {
    const counts = ['toml', 'json', 'markdown'].map((language) => blocks(language).length);
    expect(Math.min(...counts)).toBeGreaterThan(1);
    for (const block of blocks('toml')) expect(() => parseToml(block)).not.toThrow();
    for (const block of blocks('json')) expect(() => JSON.parse(block) as unknown).not.toThrow();
    for (const block of blocks('markdown')) {
      const [, front = ''] = /^---\n(.*?)^---\n/ms.exec(block) ?? [];
      expect(parseYaml(front)).toHaveProperty('description');
    }
  });

  test('that are agents can be loaded as they stand, without a warning', async () => {
    const isAgent = (block: string) => /^name = /m.test(block.split(/^\[/m)[0] ?? '');
    const tomls = blocks('toml').filter(isAgent);
    const [chatmodes, claudes] = [false, true].map((isNamed) =>
      blocks('markdown').filter((block) => /^name: /m.test(block) === isNamed),
    );
    const files = (folder: string, ending: string, texts: readonly string[] = []) =>
      texts.map((text, index) => [`project/${folder}/${index}.${ending}`, text] as const);
    const all = Object.fromEntries([
      ...files('.agents', 'toml', tomls),
      ...files('.claude/agents', 'agent.md', claudes),
      ...files('.github/chatmodes', 'chatmode.md', chatmodes),
    ]);
    const { list, load, write } = createAgents(all);
    write('project/.agents/explain.prompt.md', 'Explain it.');
    const { agents, problems } = await list();
    expect(problems).toEqual([]);
    expect(agents.map(({ name }) => name)).toEqual([
      'Review',
      'Explain Build Failures',
      'Ask the wiki',
      'Lead',
      'deep-researcher',
      '0',
    ]);
    const loaded = await Promise.all(agents.map((agent) => load(agent)));
    expect(loaded.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  test('the config.toml of the page is read without a warning', async () => {
    const toml = blocks('toml').find((block) => block.includes('[logging]')) ?? '';
    const project = createProject({ '../home/.switchboard/config.toml': toml });
    const { agents, logging, warnings } = await project.load();
    expect(warnings).toEqual([]);
    expect(agents.formats.vscode.isOn).toBe(false);
    expect(agents.formats.codex.folders.map(project.plain)).toEqual([
      '<project>/.agents',
      '<home>/.switchboard/agents',
      '<home>/.agents',
      '<home>/team/agents',
    ]);
    expect(agents).toMatchObject({ filter: ['review', 'triage'], mcpEnumTimeoutMs: 8_000 });
    expect(project.plain(logging.folder ?? '')).toBe('<home>/.switchboard/logs');
  });
});
