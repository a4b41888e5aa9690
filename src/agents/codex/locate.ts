// Finds Codex's program. npm puts a script on the PATH that starts the real one, which takes longer than everything
// we do in a run. So this looks for the program behind the script.
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { findOnPath } from '../../base/find-program.ts';
import { pathInside } from '../../base/paths.ts';
import { machineKind } from '../../base/process.ts';

export interface LocateOptions {
  /** The configured program. */
  readonly codexBin: string | undefined;
  /** Codex may be installed as a package of the project. */
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether a program in the project may be used: not if it came with a repository. */
  readonly isOurs?: ((program: string) => boolean) | undefined;
}

export function locateCodex(options: LocateOptions): string {
  const { codexBin, project, env, isOurs = () => true } = options;
  const isForeign = (file: string) => pathInside(project, file) !== undefined && !isOurs(file);
  if (codexBin !== undefined) return locateNamed(codexBin, env, isForeign);
  const own = programOfPackage(import.meta.url);
  if (own !== undefined) return own;
  const ofProject = programOfPackage(join(project, 'package.json'));
  if (ofProject !== undefined && isOurs(ofProject)) return ofProject;
  const onPath = findOnPath('codex', env, (file) => !isForeign(file));
  if (onPath !== undefined) return behindScript(onPath);
  throw new SwitchboardError('ENGINE_MISSING', 'Agents need Codex, which is not installed.', {
    hint: 'Install it with `npm i -g @openai/codex` and sign in with `codex login`. If it is installed elsewhere, set SWITCHBOARD_CODEX_BIN to its path.',
  });
}

/** A path, or a name on the PATH. */
function locateNamed(
  codexBin: string,
  env: NodeJS.ProcessEnv,
  isForeign: (file: string) => boolean,
): string {
  const isName = basename(codexBin) === codexBin;
  const file = isName ? findOnPath(codexBin, env, (one) => !isForeign(one)) : codexBin;
  if (file !== undefined && existsSync(file)) {
    if (!isForeign(file)) return behindScript(file);
    throw new SwitchboardError(
      'ENGINE_MISSING',
      `SWITCHBOARD_CODEX_BIN is set to ${codexBin}, which came with the project's repository.`,
      { hint: 'Set it to an absolute path outside the project.' },
    );
  }
  throw new SwitchboardError(
    'ENGINE_MISSING',
    `SWITCHBOARD_CODEX_BIN is set to ${codexBin}, which does not exist.`,
    { hint: 'Correct the path, or unset it to use the Codex that npm installed.' },
  );
}

/** The real program, if the file is the npm package's script. */
function behindScript(file: string): string {
  const script = realpathSync(file);
  if (basename(script) !== 'codex.js') return file;
  return programOfPackage(script) ?? programIn(join(dirname(script), '..', 'vendor')) ?? file;
}

/** The program in the package for this machine, resolved from `place`. */
function programOfPackage(place: string): string | undefined {
  try {
    const manifest = `@openai/codex-${machineKind()}/package.json`;
    return programIn(join(dirname(createRequire(place).resolve(manifest)), 'vendor'));
  } catch {
    return undefined; // not installed there
  }
}

/** `vendor` has one folder, named after the target triple. */
function programIn(vendor: string): string | undefined {
  if (!existsSync(vendor)) return undefined;
  const names = ['codex', 'codex.exe'].flatMap((name) => [join('bin', name), join('codex', name)]);
  const files = readdirSync(vendor).flatMap((kind) =>
    names.map((name) => join(vendor, kind, name)),
  );
  return files.find((file) => existsSync(file));
}
