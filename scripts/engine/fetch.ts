// Fetches the Codex that agents are tested with, unless it is there already:
//
//   tsx scripts/engine/fetch.ts
//
// It is installed in a folder beside its place and then put there whole, so that two who fetch it at
// once do not meet, and one that is interrupted leaves nothing that looks complete.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ENGINE_VERSION, engineFolder, enginePlace } from './place.ts';

const LIMIT_MS = 15 * 60_000;

function fetchEngine(): string {
  const folder = engineFolder();
  const present = enginePlace(folder);
  if (present !== undefined) return present;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(join(dirname(folder), '.fetching-'));
  try {
    install(unfinished);
    if (enginePlace(unfinished) === undefined) {
      throw new Error('there is no program for this kind of machine in the package');
    }
    putInPlace(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  const program = enginePlace(folder);
  if (program === undefined) throw new Error(`${folder} is not what was fetched`);
  return program;
}

function install(folder: string): void {
  console.error(`Fetching Codex ${ENGINE_VERSION} (several hundred megabytes, once) …`);
  const what = `@openai/codex@${ENGINE_VERSION}`;
  const options = [
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
    '--include=optional',
  ];
  execFileSync('npm', ['install', '--prefix', folder, ...options, what], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: LIMIT_MS,
    shell: process.platform === 'win32', // npm is a .cmd file there
  });
}

/** Somebody else may have been faster: then theirs is as good. */
function putInPlace(unfinished: string, folder: string): void {
  if (enginePlace(folder) !== undefined) return;
  rmSync(folder, { recursive: true, force: true }); // what an older fetch did not finish
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (enginePlace(folder) === undefined) throw error;
  }
}

try {
  console.error(`Codex ${ENGINE_VERSION}: ${fetchEngine()}`);
} catch (error) {
  console.error(`Codex ${ENGINE_VERSION} could not be fetched: ${(error as Error).message}`);
  console.error(
    `npm has to be able to install @openai/codex@${ENGINE_VERSION}; what it said is above.`,
  );
  process.exitCode = 1;
}
