// Turns the chunk that every start needs into a script whose compiled form can be saved, and the chunks that the
// background process needs into another one. The program's first file (src/load-start.ts) runs them, and other chunks
// get their imports of those chunks from there.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build, type Metafile, type Plugin, transform } from 'esbuild';

/** On top of every chunk: CommonJS packages inside the bundle call require() for Node's own modules. */
export const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export interface StartScriptOptions {
  readonly outputs: Metafile['outputs'];
  /** The bundler's output for src/index.ts. */
  readonly entry: string;
  /** The program's first file, one folder above the chunks. */
  readonly first: string;
  /** The source file that identifies the chunk. */
  readonly source: string;
  /** The background process's command. */
  readonly background: string;
  /** The oldest Node that can run the program, as `20.19`. */
  readonly oldestNode: string;
  /** The name of the entry's script. */
  readonly entryName: string;
  readonly minify: boolean;
}

/** Turns a bundled module into a script as src/load-start.ts runs it; returns its name. */
export function writeScript(folder: string, kind: string, code: string): string {
  const script = `(function(require,__import,__UNSAVED_START__,__start){"use strict";${toFunctionBody(code)}})`;
  // V8 treats two texts of the same length as equal, so a name must never be reused for another text.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12);
  const name = `${kind}-${hash}.txt`;
  writeFileSync(join(folder, name), script);
  return name;
}

export async function makeStartScript(options: StartScriptOptions): Promise<void> {
  const { outputs, entry, first, source, background, oldestNode, entryName, minify } = options;
  const chunk = chunkWith(outputs, source);
  const folder = dirname(chunk);
  const common = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: `node${oldestNode}`,
    minify,
    write: false,
  } as const;
  const plugins = [onlyWhatIsNeededAtOnce(basename(chunk))];
  const start = await build({ ...common, plugins, entryPoints: [chunk] });
  const name = writeScript(folder, 'start', start.outputFiles[0]?.text ?? '');
  const later = chunksBehind(outputs, chunkWith(outputs, background), chunk);
  const contents = later.map((file, index) => exportAs(file, index, exportsOf(outputs, file)));
  const stdin = { contents: contents.join('\n'), resolveDir: folder };
  const second = await build({ ...common, plugins, stdin });
  const backgroundName = writeScript(folder, 'background', second.outputFiles[0]?.text ?? '');
  writeFileSync(join(folder, 'import.cjs'), 'module.exports = (specifier) => import(specifier);\n');

  const { code: loader } = await transform(
    `${readFileSync('src/load-start.ts', 'utf8')}\nfunction runIndex(__GIVEN__) {\n${ownCode(entry, chunk)}\n}`,
    {
      loader: 'ts',
      target: 'es5',
      minify,
      define: {
        __START__: JSON.stringify(name),
        __BACKGROUND__: JSON.stringify(backgroundName),
        __BACKGROUND_CHUNK__: JSON.stringify(`./${basename(later[0] ?? '')}`),
        __ENTRY__: JSON.stringify(entryName),
        __OLDEST_NODE__: JSON.stringify(oldestNode),
      },
    },
  );
  writeFileSync(first, `#!/usr/bin/env node\n"use strict";${loader}`);
  const exported = `require('../${basename(first)}')`;
  writeFileSync(
    chunk,
    reexport(exported, exportsOf(outputs, chunk), (one) => one),
  );
  // The command itself has no other users.
  rmSync(later[0] ?? '');
  for (const [index, file] of later.entries()) {
    if (index === 0) continue;
    const table = `${exported}['./background']()`;
    writeFileSync(
      file,
      reexport(table, exportsOf(outputs, file), (one) => nameFor(index, one)),
    );
  }
}

function chunkWith(outputs: Metafile['outputs'], source: string): string {
  const found = Object.keys(outputs).find((file) => source in (outputs[file]?.inputs ?? {}));
  if (found === undefined) throw new Error(`No chunk has ${source} in it.`);
  return found;
}

function exportsOf(outputs: Metafile['outputs'], chunk: string): readonly string[] {
  return outputs[chunk]?.exports ?? [];
}

/** A chunk, and those it imports at once that the start doesn't have. */
function chunksBehind(outputs: Metafile['outputs'], chunk: string, start: string): string[] {
  const known = new Set(start === chunk ? [] : chunksBehind(outputs, start, start));
  const found = new Set<string>();
  const add = (file: string): void => {
    if (known.has(file) || found.has(file)) return;
    found.add(file);
    for (const { kind, path, external } of outputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && !external) add(path);
    }
  };
  add(chunk);
  return [...found];
}

/** Chunks may have the same names. Those of the first one are kept. */
function nameFor(index: number, name: string): string {
  return index === 0 ? name : `chunk${index}_${name}`;
}

function exportAs(file: string, index: number, names: readonly string[]): string {
  const list = names.map((name) => `${name} as ${nameFor(index, name)}`);
  return `export { ${list.join(', ')} } from './${basename(file)}';`;
}

/**
 * Chunks that are loaded later stay separate, and so does the start in other scripts, which get it and `require` as
 * arguments.
 */
const onlyWhatIsNeededAtOnce = (start: string): Plugin => ({
  name: 'only-what-is-needed-at-once',
  setup(bundler) {
    bundler.onResolve({ filter: /^\./ }, ({ kind, path }) => {
      const isStart = kind === 'import-statement' && basename(path) === start;
      return kind === 'dynamic-import' || isStart ? { path, external: true } : undefined;
    });
    bundler.onLoad({ filter: /\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.startsWith(BANNER)) throw new Error(`${basename(path)} has another banner.`);
      return { contents: text.slice(BANNER.length), loader: 'js' };
    });
  },
});

/**
 * Imports become variables, and exports a table of functions that return the values. esbuild's own conversion calls
 * `require` for each module of ours and defines two properties for each export, which took a tenth of the start.
 */
function toFunctionBody(code: string): string {
  const modules = new Map<string, string>();
  const imports: string[] = [];
  const body = code.replaceAll(IMPORT, (_statement, names: string, specifier: string) => {
    if (!specifier.startsWith('node:')) {
      imports.push(formatStartImport(names));
      return '';
    }
    const variable = modules.get(specifier) ?? `__node${modules.size}`;
    modules.set(specifier, variable);
    imports.push(formatImport(names, variable));
    return '';
  });
  const exported = EXPORTS.exec(body);
  const rest = body.slice(0, exported?.index);
  const unexpected = STATEMENT.exec(rest);
  if (!exported || unexpected) {
    const where = unexpected
      ? rest.slice(unexpected.index, unexpected.index + 80)
      : body.slice(-80);
    throw new Error(`The start has imports or exports in an unexpected form: ${where}`);
  }
  const required = [...modules].map(
    ([id, name]) => `const ${name}=require(${JSON.stringify(id)});`,
  );
  const table = bindingsOf(exported[1] ?? '').map(
    ([local, name]) => `${JSON.stringify(name)}:()=>${local}`,
  );
  return withImport(`${required.join('')}${imports.join('')}${rest}\nreturn{${table.join(',')}};`);
}

/** As esbuild writes them: at the start of a line, or after another statement. */
const IMPORT = /(?<=^|[;}])import ?([\w$*{}, ]+?) ?from ?"((?:node:|\.\/)[^"]+)";/gm;
const EXPORTS = /export ?\{([^}]*)\};?\s*$/;
const STATEMENT = /(?:^|[;}\n])(?:import ?[\w$*{"]|export ?[\w*{])/;

/** `{a as b}`, `a`, `* as a`, or a default with one of the others. */
function formatImport(names: string, variable: string): string {
  const [, first, rest = ''] = /^([\w$]+)?,? ?(.*)$/s.exec(names.trim()) ?? [];
  const parts: string[] = first === undefined ? [] : [`${first}=${variable}`];
  const [, namespace] = /^\* ?as ([\w$]+)$/.exec(rest) ?? [];
  if (namespace !== undefined) parts.push(`${namespace}=${variable}`);
  else if (rest !== '') {
    const bound = bindingsOf(rest.slice(1, -1)).map(([name, local]) => `${name}:${local}`);
    parts.push(`{${bound.join(',')}}=${variable}`);
  }
  return `const ${parts.join(',')};`;
}

/** `{a as b, c}` from the start. */
function formatStartImport(names: string): string {
  const bound = bindingsOf(names.trim().slice(1, -1));
  return `const ${bound.map(([name, local]) => `${local}=__start["${name}"]()`).join(',')};`;
}

/** `a as b, c` as pairs. */
function bindingsOf(list: string): [string, string][] {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
    .map((one) => {
      const [name = '', as = name] = one.split(/ +as +/);
      return [name, as];
    });
}

/** A script has no `import()` without a Node flag, so it gets one as an argument. */
function withImport(code: string): string {
  return code.replace(/(?<![\w$."'`])import\(/g, '__import(');
}

/** The code of src/index.ts, with its imports from the chunk taken from the script. */
function ownCode(entry: string, chunk: string): string {
  const own = readFileSync(entry, 'utf8').replace(BANNER, '');
  const imports = new RegExp(`import ?\\{([^}]*)\\} ?from ?"\\./chunks/${basename(chunk)}";`);
  const [statement = '', names = ''] = imports.exec(own) ?? [];
  const taken = names
    .split(',')
    .map((name) => name.trim().split(' as '))
    .map(([name = '', local = name]) => `var ${local} = module.exports['${name}']();`);
  // Its other imports only set the order, and are also in the script.
  return [...taken, own.replace(statement, '').replaceAll(/import ?"[^"]+";/g, '')].join('\n');
}

/** A chunk, for others that import from it. `table` is where a script has its exports, under these names. */
function reexport(
  table: string,
  exports: readonly string[],
  nameOf: (name: string) => string,
): string {
  return [
    // `require` finds the program loaded; `import` would read and scan the file again.
    `import { createRequire } from 'node:module';`,
    `const require = createRequire(import.meta.url);`,
    `const script = ${table};`,
    ...exports.map((name, index) => `const export${index} = script['${nameOf(name)}']();`),
    `export { ${exports.map((name, index) => `export${index} as ${name}`).join(', ')} };\n`,
  ].join('\n');
}
