// Bundles the program: a small dist/index.js that holds what serving over stdio needs, and chunks
// that are loaded when a command or a rare situation asks for them. Dependencies are included, so
// that `npx` fetches one package and a host's start reads few files.
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { BANNER, makeStartScript } from './start-script.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const skill = readFileSync('skill/SKILL.md', 'utf8');

/**
 * Chunks are cut by who needs what, so what serving needs would lie in as many files as there are
 * ways to share it. Having everything that is loaded later need all of it puts it into one.
 */
const oneFileForTheStart: Plugin = {
  name: 'one-file-for-the-start',
  setup(bundler) {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const loadedLater = new Set(
      files.flatMap((file) => {
        const text = readFileSync(join('src', file), 'utf8');
        const imports = [...text.matchAll(/\bimport\('(\.[^']+\.ts)'\)/g)];
        return imports.map(([, path = '']) => resolve('src', dirname(file), path));
      }),
    );
    bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!loadedLater.has(path)) return undefined;
      const start = JSON.stringify(resolve('src/cli/run.ts'));
      return { contents: `${readFileSync(path, 'utf8')}\nimport ${start};\n`, loader: 'ts' };
    });
  },
};

// Built beside the old one and put in its place whole: programs that run meanwhile find theirs.
const NEW = 'dist.new';
const OLD = 'dist.old';
for (const folder of [NEW, OLD]) rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { index: 'src/index.ts', assistant: 'src/assistant-entry.ts' },
  outdir: NEW,
  plugins: [oneFileForTheStart],
  bundle: true,
  splitting: true,
  platform: 'node',
  mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
  format: 'esm',
  target: 'node20.19',
  minify: true,
  legalComments: 'linked',
  define: { __VERSION__: JSON.stringify(version), __SKILL__: JSON.stringify(skill) },
  banner: { js: BANNER },
  metafile: true,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
await makeStartScript({
  outputs: metafile.outputs,
  entry: `${NEW}/index.js`,
  source: 'src/cli/run.ts',
  minify: true,
});

// The same program under the name that does not end in `.js`, for hosts configured that way.
writeFileSync(`${NEW}/switchboard`, "#!/usr/bin/env node\nimport './index.js';\n");
for (const file of ['index.js', 'switchboard']) chmodSync(`${NEW}/${file}`, 0o755);
if (existsSync('dist')) renameSync('dist', OLD);
renameSync(NEW, 'dist');
rmSync(OLD, { recursive: true, force: true });
