// Which program the engine is. What npm puts on the PATH is a script that starts the real program,
// which costs more time than all that we do in a run: so the program behind it is looked for.
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { machineKind } from '../../base/process.ts';
import { findOnPath } from '../../install/find-program.ts';

export interface LocateOptions {
  /** The program that the user has named. */
  readonly codexBin: string | undefined;
  /** The folder that a package may be installed for. */
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
}

export function locateEngine({ codexBin, project, env }: LocateOptions): string {
  if (codexBin !== undefined) return locateNamed(codexBin, env);
  for (const place of [import.meta.url, join(project, 'package.json')]) {
    const program = programOfPackage(place);
    if (program !== undefined) return program;
  }
  const onPath = findOnPath('codex', env);
  if (onPath !== undefined) return behindScript(onPath);
  throw new SwitchboardError('ENGINE_MISSING', 'Agents are run by Codex, which is not installed.', {
    hint: 'Install it with: npm i -g @openai/codex, then sign in with: codex login. If it is elsewhere, name its program in SWITCHBOARD_CODEX_BIN.',
  });
}

/** As a path, or as a name on the PATH. */
function locateNamed(codexBin: string, env: NodeJS.ProcessEnv): string {
  const isName = basename(codexBin) === codexBin;
  const file = isName ? findOnPath(codexBin, env) : codexBin;
  if (file !== undefined && existsSync(file)) return behindScript(file);
  throw new SwitchboardError(
    'ENGINE_MISSING',
    `The program that SWITCHBOARD_CODEX_BIN names, ${codexBin}, does not exist.`,
    { hint: 'Correct it, or unset it to have Codex looked for where npm installs it.' },
  );
}

/** The real program, where a file is the script of the npm package. */
function behindScript(file: string): string {
  const script = realpathSync(file);
  if (basename(script) !== 'codex.js') return file;
  return programOfPackage(script) ?? programIn(join(dirname(script), '..', 'vendor')) ?? file;
}

/** The program in the package for this kind of machine, as a file at this place would find it. */
function programOfPackage(place: string): string | undefined {
  try {
    const manifest = `@openai/codex-${machineKind()}/package.json`;
    return programIn(join(dirname(createRequire(place).resolve(manifest)), 'vendor'));
  } catch {
    return undefined; // not installed there
  }
}

/** Below `vendor` there is one folder, named for the kind of machine as compilers call it. */
function programIn(vendor: string): string | undefined {
  if (!existsSync(vendor)) return undefined;
  const names = ['codex', 'codex.exe'].flatMap((name) => [join('bin', name), join('codex', name)]);
  const files = readdirSync(vendor).flatMap((kind) =>
    names.map((name) => join(vendor, kind, name)),
  );
  return files.find((file) => existsSync(file));
}
