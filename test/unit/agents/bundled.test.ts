// The parsers are packages of different kinds, and are loaded when they are needed. What that gives is not
// the same in a bundle, which is what users have.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import type { listAgents } from '../../../src/agents/list.ts';
import { ROOT } from '../../support/project.ts';
import { createAgents, markdown } from './temp-agents.ts';

test('a bundle reads agents in TOML and Markdown', async () => {
  const { root, project, home, homeFolder, settings } = createAgents({
    'project/.agents/a.toml': 'name = "A"\n',
    'project/.claude/agents/b.agent.md': markdown('name: B\ndescription: Use it: now'),
  });
  const outdir = join(root, 'bundle');
  await build({
    entryPoints: [join(ROOT, 'src/agents/list.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'esm',
    target: 'node20.19',
    minify: true,
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  const bundle = (await import(pathToFileURL(join(outdir, 'list.mjs')).href)) as {
    listAgents: typeof listAgents;
  };
  const { agents, problems } = await bundle.listAgents({
    settings: settings(),
    project,
    home,
    homeFolder,
  });
  expect(problems).toEqual([]);
  expect(agents.map(({ toolName }) => toolName)).toEqual(['agent_a', 'anth_b']);
});
