// Turns the chunk that every start needs into a script whose compiled form can be saved. The program's first file
// (src/load-start.ts) runs it, and other chunks get their imports of that chunk from there.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
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
  /** The oldest Node that can run the program, as `20.19`. */
  readonly oldestNode: string;
  /** The name of the entry's script. */
  readonly entryName: string;
  readonly minify: boolean;
}

/** Turns a bundled module into a script as src/load-start.ts runs it; returns its name. */
export function writeScript(folder: string, kind: string, code: string): string {
  const script = `(function(require,__import,__UNSAVED_START__){"use strict";${toFunctionBody(code)}})`;
  // V8 treats two texts of the same length as equal, so a name must never be reused for another text.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12);
  const name = `${kind}-${hash}.txt`;
  writeFileSync(join(folder, name), script);
  return name;
}

export async function makeStartScript(options: StartScriptOptions): Promise<void> {
  const { outputs, entry, first, source, oldestNode, entryName, minify } = options;
  const chunk = Object.keys(outputs).find((file) => source in (outputs[file]?.inputs ?? {}));
  if (chunk === undefined) throw new Error(`No chunk has ${source} in it.`);
  const { outputFiles } = await build({
    entryPoints: [chunk],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: `node${oldestNode}`,
    plugins: [onlyWhatIsNeededAtOnce],
    minify,
    write: false,
  });
  const code = outputFiles[0]?.text ?? '';
  const name = writeScript(dirname(chunk), 'start', code);
  writeFileSync(
    join(dirname(chunk), 'import.cjs'),
    'module.exports = (specifier) => import(specifier);\n',
  );

  const { code: loader } = await transform(
    `${readFileSync('src/load-start.ts', 'utf8')}\nfunction runIndex(__GIVEN__) {\n${ownCode(entry, chunk)}\n}`,
    {
      loader: 'ts',
      target: 'es5',
      minify,
      define: {
        __START__: JSON.stringify(name),
        __ENTRY__: JSON.stringify(entryName),
        __OLDEST_NODE__: JSON.stringify(oldestNode),
      },
    },
  );
  writeFileSync(first, `#!/usr/bin/env node\n"use strict";${loader}`);
  writeFileSync(chunk, reexport(basename(first), outputs[chunk]?.exports ?? []));
}

/** Chunks that are loaded later stay separate, and the script gets `require` as an argument. */
const onlyWhatIsNeededAtOnce: Plugin = {
  name: 'only-what-is-needed-at-once',
  setup(bundler) {
    bundler.onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
    bundler.onLoad({ filter: /\.mjs$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.startsWith(BANNER)) throw new Error(`${basename(path)} has another banner.`);
      return { contents: text.slice(BANNER.length), loader: 'js' };
    });
  },
};

/**
 * Imports become variables, and exports a table of functions that return the values. esbuild's own conversion calls
 * `require` for each module of ours and defines two properties for each export, which took a tenth of the start.
 */
function toFunctionBody(code: string): string {
  const modules = new Map<string, string>();
  const imports: string[] = [];
  const body = code.replaceAll(IMPORT, (_statement, names: string, specifier: string) => {
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
const IMPORT = /(?<=^|[;}])import ?([\w$*{}, ]+?) ?from ?"(node:[^"]+)";/gm;
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

/** The chunk, for others that import from it. */
function reexport(first: string, exports: readonly string[]): string {
  return [
    // `require` finds it loaded; `import` would read and scan the file again.
    `import { createRequire } from 'node:module';`,
    `const start = createRequire(import.meta.url)('../${first}');`,
    ...exports.map((name, index) => `const export${index} = start['${name}']();`),
    `export { ${exports.map((name, index) => `export${index} as ${name}`).join(', ')} };\n`,
  ].join('\n');
}
