// The chunk that every start needs, as a script whose compiled form can be kept (src/load-start.ts). What
// other chunks import from it is still there under its name: a module that runs the script.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

export interface StartScriptOptions {
  readonly outputs: Metafile['outputs'];
  /** The source file that tells the chunk from others. */
  readonly source: string;
  /** What stands on top of every chunk, and declares `require`. */
  readonly banner: string;
  readonly minify: boolean;
}

export async function makeStartScript(options: StartScriptOptions): Promise<void> {
  const { outputs, source, banner, minify } = options;
  const chunk = Object.keys(outputs).find((file) => source in (outputs[file]?.inputs ?? {}));
  if (chunk === undefined) throw new Error(`No chunk has ${source} in it.`);
  const code = await bundle({
    entryPoints: [chunk],
    format: 'cjs',
    plugins: [onlyWhatIsNeededAtOnce(banner)],
    minify,
  });
  const script = `(function(require,__import,__UNSAVED_START__){"use strict";var module={exports:{}};${withImport(code)}return module.exports})`;
  // V8 takes two texts of one length for the same, so a name must never stand for two of them.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12);
  const name = `start-${hash}.txt`;
  writeFileSync(join(dirname(chunk), name), script);
  const contents = moduleFor(name, outputs[chunk]?.exports ?? []);
  const stdin = { contents, resolveDir: process.cwd() };
  writeFileSync(chunk, await bundle({ stdin, format: 'esm', minify }));
}

async function bundle(options: Parameters<typeof build>[0]): Promise<string> {
  const common = { bundle: true, platform: 'node', target: 'node20.19', write: false } as const;
  const { outputFiles } = await build({ ...options, ...common });
  return outputFiles[0]?.text ?? '';
}

/** Chunks that are loaded later stay where they are, and `require` is given to the script. */
function onlyWhatIsNeededAtOnce(banner: string): Plugin {
  return {
    name: 'only-what-is-needed-at-once',
    setup(bundler) {
      bundler.onResolve({ filter: /^\./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      );
      bundler.onLoad({ filter: /\.js$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        if (!text.startsWith(banner)) throw new Error(`${basename(path)} has another banner.`);
        return { contents: text.slice(banner.length) };
      });
    },
  };
}

/** A script has no `import()` unless Node is asked for it with a flag; it is given one. */
function withImport(code: string): string {
  return code.replace(/(?<![\w$."'`])import\(/g, '__import(');
}

function moduleFor(script: string, names: readonly string[]): string {
  return [
    "import { loadStart } from './src/load-start.ts';",
    `const url = new URL('${script}', import.meta.url);`,
    'const start = loadStart(url, (specifier) => import(specifier));',
    ...names.map((name, index) => `const export${index} = start['${name}'];`),
    `export { ${names.map((name, index) => `export${index} as ${name}`).join(', ')} };`,
  ].join('\n');
}
