// Installs this folder's packages, and a Node that is new enough for them. They aren't the project's dependencies:
// they are large, need a newer Node than the project does, and only this uses them.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Program, runToEnd } from './programs.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const PACKAGES = join(FOLDER, 'node_modules');

/** The Inspector's minimum; the suite needs less. */
const NODE_NEEDED = [22, 19] as const;
const INSTALL_MS = 600_000;

export interface Tools {
  /** The Node that runs both. */
  readonly node: string;
  readonly suite: string;
  /** The scenarios each revision requires, according to the suite's authors. */
  readonly requirements: string;
  readonly inspector: string;
}

export async function installTools(logFile: string): Promise<Tools> {
  if (!isInstalled()) await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], logFile);
  const suite = join(PACKAGES, '@modelcontextprotocol/conformance');
  return {
    node: isNewEnough() ? process.execPath : await installNode(logFile),
    suite: join(suite, 'dist/index.js'),
    requirements: join(suite, 'requirements'),
    inspector: join(PACKAGES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  };
}

/** npm writes its own copy of the lock last; an older one belongs to another installation. */
function isInstalled(): boolean {
  const written = statSync(join(PACKAGES, '.package-lock.json'), { throwIfNoEntry: false });
  return (
    written !== undefined && written.mtimeMs >= statSync(join(FOLDER, 'package-lock.json')).mtimeMs
  );
}

function isNewEnough(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1]);
}

/**
 * The `node` package downloads the program for this machine in a script that npm runs on installation. We run it
 * here instead, because npm may be configured not to run package scripts.
 */
async function installNode(logFile: string): Promise<string> {
  const folder = join(PACKAGES, 'node');
  const program = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(program)) {
    const args = [join(folder, 'installArchSpecificPackage.js')];
    await succeed({ command: process.execPath, args, cwd: folder, env: process.env, logFile });
  }
  return program;
}

/** npm passes its own path to the scripts it runs. */
async function npm(args: readonly string[], logFile: string): Promise<void> {
  const path = process.env['npm_execpath'];
  const [command, ...first] = path === undefined ? ['npm'] : [process.execPath, path];
  const all = [...first, ...args];
  await succeed({ command: command ?? 'npm', args: all, cwd: FOLDER, env: process.env, logFile });
}

async function succeed(program: Program): Promise<void> {
  const { status, stderr } = await runToEnd(program, INSTALL_MS);
  if (status !== 0) throw new Error(`The packages of ${FOLDER} cannot be installed.\n${stderr}`);
}
