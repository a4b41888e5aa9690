// The published programs that tests drive: their pinned versions, their npm packages, and where they are
// cached. They are large and the same for every checkout, so they live in the user's cache folder.
// TEST_<ID>_VERSION in the environment picks another version, such as TEST_CODEX_VERSION=0.170.0.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export type ProgramId = 'codex' | 'claude' | 'opencode' | 'gemini';

export interface Program {
  readonly id: ProgramId;
  readonly title: string;
  readonly version: string;
  /** The npm package for this machine. */
  readonly package: string;
  /** The program itself, not npm's launcher, below `node_modules`. Undefined if it isn't there. */
  readonly findIn: (modules: string) => string | undefined;
}

const ARCH = process.arch;
const PLATFORM = process.platform;
const EXE = PLATFORM === 'win32' ? '.exe' : '';

const PROGRAMS: Record<ProgramId, Omit<Program, 'id'>> = {
  codex: {
    title: 'Codex',
    version: '0.166.0',
    package: '@openai/codex', // depends on one package for each platform
    findIn: findCodex,
  },
  claude: {
    title: 'Claude Code',
    version: '2.1.325',
    package: `@anthropic-ai/claude-code-${PLATFORM}-${ARCH}${isMusl() ? '-musl' : ''}`,
    findIn: (modules) => below(modules, '@anthropic-ai', /^claude-code-/, `claude${EXE}`),
  },
  opencode: {
    title: 'OpenCode',
    version: '1.18.33',
    package: `opencode-${PLATFORM === 'win32' ? 'windows' : PLATFORM}-${ARCH}${isMusl() ? '-musl' : ''}`,
    findIn: (modules) => below(modules, '', /^opencode-/, `bin/opencode${EXE}`),
  },
  gemini: {
    title: 'Gemini CLI',
    version: '0.61.0',
    package: '@google/gemini-cli',
    findIn: (modules) => below(modules, '@google', /^gemini-cli$/, 'bundle/gemini.js'),
  },
};

export const PROGRAM_IDS = Object.keys(PROGRAMS) as ProgramId[];

export function programOf(id: ProgramId, env: NodeJS.ProcessEnv = process.env): Program {
  const program = PROGRAMS[id];
  return { id, ...program, version: env[`TEST_${id.toUpperCase()}_VERSION`] || program.version };
}

/** False if the environment picked another version. */
export function isPinned({ id, version }: Program): boolean {
  return version === PROGRAMS[id].version;
}

export function cacheFolder(
  { id, version }: Program,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'switchboard', 'programs', id, version);
}

/** The path of an installed program; undefined if it isn't in the folder. */
export function locate(program: Program, folder = cacheFolder(program)): string | undefined {
  return program.findIn(join(folder, 'node_modules'));
}

function findCodex(modules: string): string | undefined {
  const packages = join(modules, '@openai');
  const vendors = matching(packages, /^codex-/).map((name) => join(packages, name, 'vendor'));
  const programs = vendors.flatMap((vendor) =>
    matching(vendor, /./).map((target) => join(vendor, target, 'bin', `codex${EXE}`)),
  );
  return programs.find((program) => existsSync(program));
}

function below(modules: string, scope: string, name: RegExp, path: string): string | undefined {
  const folder = join(modules, scope);
  return matching(folder, name)
    .map((found) => join(folder, found, path))
    .find((program) => existsSync(program));
}

function matching(folder: string, name: RegExp): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((entry) => name.test(entry)) : [];
}

function isMusl(): boolean {
  if (PLATFORM !== 'linux') return false;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined;
}
