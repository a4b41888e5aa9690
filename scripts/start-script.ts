// The chunk that every start needs, as a script whose compiled form can be kept (src/load-start.ts). The
// program's first file runs it, and other chunks get from there what they import from the chunk.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

const SHEBANG = '#!/usr/bin/env node';
/** On top of every file: CommonJS packages inside the bundle call require() for Node's own modules. */
export const BANNER = `${SHEBANG}
import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`;

export interface StartScriptOptions {
  readonly outputs: Metafile['outputs'];
  /** The program's first file, which lies one folder above the chunks. */
  readonly entry: string;
  /** The source file that tells the chunk from others. */
  readonly source: string;
  readonly minify: boolean;
}

export async function makeStartScript(options: StartScriptOptions): Promise<void> {
  const { outputs, entry, source, minify } = options;
  const chunk = Object.keys(outputs).find((file) => source in (outputs[file]?.inputs ?? {}));
  if (chunk === undefined) throw new Error(`No chunk has ${source} in it.`);
  const code = await bundle({
    entryPoints: [chunk],
    format: 'cjs',
    plugins: [onlyWhatIsNeededAtOnce],
    minify,
  });
  const script = `(function(require,__import,__UNSAVED_START__){"use strict";var module={exports:{}};${withImport(code)}return module.exports})`;
  // V8 takes two texts of one length for the same, so a name must never stand for two of them.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12);
  const name = `start-${hash}.txt`;
  writeFileSync(join(dirname(chunk), name), script);
  const first = firstFile(entry, { chunk, script: name, exports: outputs[chunk]?.exports ?? [] });
  const stdin = { contents: first, resolveDir: process.cwd() };
  writeFileSync(entry, `${SHEBANG}\n${await bundle({ stdin, format: 'esm', minify })}`);
  writeFileSync(chunk, `export * from '../${basename(entry)}';\n`);
}

async function bundle(options: Parameters<typeof build>[0]): Promise<string> {
  const common = { bundle: true, platform: 'node', target: 'node20.19', write: false } as const;
  const { outputFiles } = await build({ ...options, ...common });
  return outputFiles[0]?.text ?? '';
}

/** Chunks that are loaded later stay where they are, and `require` is given to the script. */
const onlyWhatIsNeededAtOnce: Plugin = {
  name: 'only-what-is-needed-at-once',
  setup(bundler) {
    bundler.onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    bundler.onLoad({ filter: /\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.startsWith(BANNER)) throw new Error(`${basename(path)} has another banner.`);
      return { contents: text.slice(BANNER.length) };
    });
  },
};

/** A script has no `import()` unless Node is asked for it with a flag; it is given one. */
function withImport(code: string): string {
  return code.replace(/(?<![\w$."'`])import\(/g, '__import(');
}

/** What the entry does, with what it imports from the chunk taken from the script. */
function firstFile(
  entry: string,
  { chunk, script, exports }: { chunk: string; script: string; exports: readonly string[] },
): string {
  const own = readFileSync(entry, 'utf8').replace(BANNER, '');
  const imports = new RegExp(`import ?\\{([^}]*)\\} ?from ?"\\./chunks/${basename(chunk)}";`);
  const [statement = '', names = ''] = imports.exec(own) ?? [];
  const taken = names
    .split(',')
    .map((name) => name.trim().split(' as '))
    .map(([name = '', local = name]) => `const ${local} = start['${name}'];`);
  return [
    "import { loadStart } from './src/load-start.ts';",
    `const start = loadStart(new URL('chunks/${script}', import.meta.url));`,
    ...taken,
    ...exports.map((name, index) => `const export${index} = start['${name}'];`),
    `export { ${exports.map((name, index) => `export${index} as ${name}`).join(', ')} };`,
    // What else it imports, for its order alone, is in the script as well.
    own.replace(statement, '').replaceAll(/import ?"[^"]+";/g, ''),
  ].join('\n');
}
