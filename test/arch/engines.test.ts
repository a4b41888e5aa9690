// Agents don't know which engine runs them: the engine's own folder does. Elsewhere, its name appears only
// in the files listed here, in code that is not about the engine.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

const ENGINE = 'agents/codex/';

const ALLOWED = {
  'chooses the engine': ['agents/engines.ts'],
  "knows Codex's agent files as a format": [
    'agents/agent.ts',
    'agents/formats/codex-toml.ts',
    'agents/formats/parse.ts',
    'agents/places.ts',
  ],
  "reads the servers in Codex's configuration, as of any other program": [
    'agents/servers/discover.ts',
    'agents/servers/programs/codex.ts',
    'agents/servers/programs/listing.ts',
  ],
  'has the public names of settings and of a key in --json': [
    'cli/commands/agents.ts',
    'config/config.ts',
    'config/settings/agent-keys.ts',
    'config/settings/agents.ts',
  ],
  'knows the files of programs that hold secrets': ['trust/scanner/orders.ts'],
  'is about Codex as a host': [
    'background/hello.ts',
    'background/place.ts',
    'child/environment.ts',
    'cli/serve/stdio-host.ts',
    'config/schema/schema.ts',
    'session/list-changes.ts',
  ],
  "hides Codex's files from servers": ['trust/sandbox/defaults.ts'],
};

const SOURCE = join(ROOT, 'src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join(posix.sep))
  .filter((file) => file.endsWith('.ts') && !file.startsWith(ENGINE));

/** Without comments: those may say how Codex behaves. */
const codeOf = (file: string) =>
  readFileSync(join(SOURCE, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$| \/\/ .*$/gm, '');

test('only these files outside the engine name Codex', () => {
  const naming = files.filter((file) => /codex/i.test(codeOf(file)));
  expect(naming.toSorted()).toEqual(Object.values(ALLOWED).flat().toSorted());
});

test('only the engine’s own files and the one that chooses it import the engine', () => {
  const importing = files.filter((file) => /['/]codex\//.test(codeOf(file)));
  // The other one reads the folder that Codex keeps its configuration in.
  expect(importing.toSorted()).toEqual(['agents/engines.ts', 'agents/servers/programs/codex.ts']);
});
