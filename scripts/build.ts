// Bundles the program: a small dist/index.js that runs what serving over stdio needs, and chunks that are loaded on
// demand. Dependencies are included, so `npx` fetches one package and a start reads few files. The files in dist/
// itself are CommonJS, which every version of Node can read; the chunks are modules.
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
import { build, type Plugin, transform } from 'esbuild';
import { BANNER, makeStartScript, writeScript } from './start-script.ts';

const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  engines: { node: string };
};
const oldestNode = engines.node.replace('>=', '');
const skill = readFileSync('skill/SKILL.md', 'utf8');

/**
 * Chunks are split by which entries need a module, so the start would be spread over many files. Making all lazy
 * chunks depend on the whole start puts it into one.
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

// Built next to the old one and moved into place as a whole, so that running programs still find their files.
const NEW = 'dist.new';
const OLD = 'dist.old';
for (const folder of [NEW, OLD]) rmSync(folder, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { index: 'src/index.ts' },
  outdir: NEW,
  outExtension: { '.js': '.mjs' },
  plugins: [oneFileForTheStart],
  bundle: true,
  splitting: true,
  platform: 'node',
  mainFields: ['module', 'main'], // jsonc-parser's `main` can't be bundled
  format: 'esm',
  target: `node${oldestNode}`,
  minify: true,
  legalComments: 'linked',
  define: { __VERSION__: JSON.stringify(version), __SKILL__: JSON.stringify(skill) },
  banner: { js: BANNER },
  metafile: true,
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});
// The entry has to be small: every session of every host has one.
const { outputFiles: entryFiles } = await build({
  entryPoints: { entry: 'src/entry/main.ts' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: `node${oldestNode}`,
  minify: true,
  define: { __VERSION__: JSON.stringify(version) },
  write: false,
  logLevel: 'warning',
});
const entryName = writeScript(`${NEW}/chunks`, 'entry', entryFiles[0]?.text ?? '');
await makeStartScript({
  outputs: metafile.outputs,
  entry: `${NEW}/index.mjs`,
  first: `${NEW}/index.js`,
  source: 'src/cli/run.ts',
  background: 'src/cli/commands/background.ts',
  oldestNode,
  entryName,
  minify: true,
});
rmSync(`${NEW}/index.mjs`);

const { code } = await transform(readFileSync('src/assistant-entry.ts', 'utf8'), {
  loader: 'ts',
  format: 'cjs',
  platform: 'node',
  target: `node${oldestNode}`,
  minify: true,
});
writeFileSync(`${NEW}/assistant.js`, code);
// The same program under a name without `.js`, for hosts configured that way.
writeFileSync(`${NEW}/switchboard`, "#!/usr/bin/env node\nrequire('./index.js');\n");
writeFileSync(`${NEW}/package.json`, '{ "type": "commonjs" }\n');
for (const file of ['index.js', 'switchboard']) chmodSync(`${NEW}/${file}`, 0o755);
if (existsSync('dist')) renameSync('dist', OLD);
renameSync(NEW, 'dist');
rmSync(OLD, { recursive: true, force: true });
