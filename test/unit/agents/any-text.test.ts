// Whatever a file holds: reading it ends in an agent or in a sentence with a line, and no two agents get
// the same name.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dialect } from '../../../src/agents/agent.ts';
import { AgentFileError } from '../../../src/agents/formats/draft.ts';
import { splitFrontMatter } from '../../../src/agents/formats/front-matter.ts';
import { parseAgentFile } from '../../../src/agents/formats/parse.ts';
import { createToolNamer, safeName } from '../../../src/agents/names.ts';
import { mapTools } from '../../../src/agents/tool-map.ts';
import { agentSettings } from '../../support/agent-settings.ts';

const ROOTS = { project: '/p', homeFolder: '/u' };

/** Text of pieces that mean something to a parser, as `pieces` has them one on a line. */
function textOf(pieces: string): fc.Arbitrary<string> {
  const meaningful = pieces
    .split('\n')
    .map((piece) => piece.replaceAll('↵', '\n').replaceAll('␣', ' '));
  const any = [fc.string({ maxLength: 6 }), fc.string({ unit: 'binary', maxLength: 3 })];
  const piece = fc.oneof(fc.constantFrom(...meaningful, '\r\n', '\ufeff'), ...any);
  return fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''));
}

const MARKDOWN = textOf(`---↵
---
---js↵
↵
name:␣
description:␣
tools:␣
mcpServers:↵
mcp-servers:↵
__proto__:␣
  -␣
  x:↵
-␣
[
]
{
}
:␣
"
'
&a␣
*a
!!x␣
|↵
>↵
#
?␣
%YAML 1.1↵`);

const TOML = textOf(`name =␣
"A"
↵
[run]↵
[mcp_servers.x]↵
command =␣
model =␣
tools =␣
env =␣
args =␣
developer_instructions = "x"↵
[
]
{
}
"""
'''
=
.
,
[[
]]
#
true
1e400
2020-01-01
__proto__`);

/** Whether reading a text ends as it should: in an agent, or in a sentence with a line. */
async function endsWell(dialect: Dialect, text: string): Promise<boolean> {
  try {
    const draft = await parseAgentFile(dialect, { file: '/p/x.agent.md', text, ...ROOTS });
    mapTools(draft, dialect, agentSettings());
    return draft.name !== '' && draft.description !== '';
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    return /^[1-9]\d*: .+\.$/s.test(error.message);
  }
}

test.each([
  ['claude', MARKDOWN, ''],
  ['claude', MARKDOWN, '---\nname: A\n'],
  ['chatmode', MARKDOWN, '---\ndescription: d\n'],
  ['copilot', MARKDOWN, '---\n'],
  ['switchboard-toml', TOML, ''],
  ['switchboard-toml', TOML, 'name = "A"\n'],
  ['codex-toml', TOML, 'name = "A"\n'],
] as const)('any text can be read as %s', async (dialect, texts, start) => {
  const end = start.startsWith('---') ? '\n---\n' : '';
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      expect(await endsWell(dialect, start + text + end)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

const LONG = 1 << 19;
test.each([
  ['spaces behind the dashes', `---${' '.repeat(LONG)}x y\n`],
  ['spaces in a head', `---\n${' '.repeat(60_000)}x\n---\n`],
  ['spaces in a value', `---\nname: a: ${' '.repeat(60_000)}b\n---\n`],
  ['many keys that YAML refuses', `---\nname: a: b\n${'k: v: w\n'.repeat(5_000)}---\n`],
  ['many parentheses', `---\ntools: ${'('.repeat(30_000)}${' a,'.repeat(10_000)}\n---\n`],
  ['empty lines', `${'\n'.repeat(LONG)}---`],
  ['spaces before a key', `name = "a"\n${' '.repeat(LONG)}x`],
  ['a name without a letter', `name = "${'_'.repeat(LONG)}"\n`],
  ['lists in lists', `name = "a"\nx = ${'['.repeat(50_000)}`],
  ['tables in tables', `name = "a"\n${'['.repeat(50_000)}`],
  ['commas', `name = "a"\ntools = "${' ,'.repeat(LONG / 4)}"\n`],
])('adversarial text does not slow down a reader: %s', async (_, text) => {
  for (const dialect of ['claude', 'switchboard-toml'] as const) {
    expect(await endsWell(dialect, text)).toBe(true);
  }
  expect(safeName(text)).not.toBe('');
});

test('the body is everything below the front matter, with any line ends', () => {
  const line = fc
    .string({ maxLength: 10 })
    .filter((text) => !/[\r\n]/.test(text) && !text.startsWith('---'));
  const ending = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(fc.array(line), fc.array(line), ending, (head, body, end) => {
      const text = ['---', ...head, '---', ...body].join(end);
      expect(splitFrontMatter(text)).toEqual({
        head: head.join('\n'),
        headLine: 2,
        body: body.join('\n').trim(),
      });
    }),
  );
});

test('a safe name has letters and digits with underscores in between, and is never empty', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(safeName(name)).toMatch(/^[a-z0-9]+(_+[a-z0-9]+)*$/);
      expect(safeName(name)).toBe(safeName(name));
    }),
  );
});

test.each([
  ['Explain Build Failures', 'explain_build_failures'],
  ['A  B', 'a__b'],
  ['--x--', 'x'],
  ['Überprüfer', 'berpr_fer'],
  ['a😀b', 'a_b'],
  ['\u212Aelvin', 'elvin'],
])('%s becomes the safe name %s', (name, safe) => {
  expect(safeName(name)).toBe(safe);
});

test('names without such letters stay distinct', () => {
  expect(safeName('探索')).toMatch(/^[0-9a-f]{8}$/);
  expect(safeName('探索')).not.toBe(safeName('検索'));
});

test('tool names are unique, fit every host, and the first keeps its own', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'x',
      'x_2',
      'x_2_2',
      'x_3',
      'y'.repeat(46),
      'y'.repeat(44).concat('_2'),
      'y'.repeat(60),
    ),
    fc.string({ maxLength: 60 }).map(safeName),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 40 }), (wanted) => {
      const namer = createToolNamer(wanted);
      const names = wanted.map(namer);
      expect(new Set(names).size).toBe(names.length);
      for (const each of names) expect(each).toMatch(/^[A-Za-z0-9_-]{1,46}$/);
      const short = wanted.filter((each) => each.length <= 46);
      expect(names).toEqual(expect.arrayContaining(short));
    }),
  );
});

test('ten thousand agents with the same name all get their own', () => {
  const wanted = [...Array.from({ length: 10_000 }, () => 'agent_x'), 'agent_x_3'];
  const namer = createToolNamer(wanted);
  const names = wanted.map(namer);
  expect(new Set(names).size).toBe(wanted.length);
  expect([names[0], names[1], names[2], names.at(-1)]).toEqual([
    'agent_x',
    'agent_x_2',
    'agent_x_4',
    'agent_x_3',
  ]);
});
