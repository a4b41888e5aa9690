// A project folder for one test, with its own HOME and servers. It's removed after the test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const PROGRAM = join(ROOT, 'dist/index.js');
export const FIXTURES = join(ROOT, 'test/fixtures');

/** Whether this run's sessions share a background process, which ends with its home: see `shared` in vitest.config.ts. */
export const IS_SHARED = Boolean(process.env['TEST_SHARED']);

/** The folders of all projects that this test process has created. */
export const projectFolders = new Set<string>();

export interface Project {
  readonly dir: string;
  /** Writes a file in the project; objects become JSON. */
  write(path: string, content: string | object): string;
  /** An environment without the real HOME. */
  readonly env: Record<string, string>;
}

/** `atEnd` receives the clean-up; by default it runs after the test. */
export function createProject(
  files: Record<string, string | object> = {},
  atEnd: (remove: () => void) => void = onTestFinished,
): Project {
  const dir = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  projectFolders.add(dir);
  atEnd(() => removeFolder(dir));
  const write = (path: string, content: string | object): string => {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return file;
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const { PATH = '' } = process.env;
  const alone = IS_SHARED ? {} : { SWITCHBOARD_ALONE: '1' };
  // Tests say when a changed configuration takes effect.
  const own = { HOME: join(dir, 'home'), SWITCHBOARD_WATCH: '0', ...alone };
  return { dir, write, env: { PATH, LANG: 'C.UTF-8', ...own } };
}

const MOST_ATTEMPTS = 20;

/**
 * A background process may still write to it. Node's `maxRetries` would only try again to remove the folder, and not
 * what was added to it.
 */
function removeFolder(dir: string): void {
  for (let attempts = 1; ; attempts++) {
    try {
      return rmSync(dir, { recursive: true, force: true });
    } catch (error) {
      const isAdded = (error as NodeJS.ErrnoException).code === 'ENOTEMPTY';
      if (!isAdded || attempts === MOST_ATTEMPTS) throw error;
    }
  }
}

/** For servers that load a lot before they answer: a busy machine is slow. */
export const PATIENT = { timeouts: { childSpawnMs: 120_000 } };

/** A configuration file with these servers. */
export function configWith(mcpServers: object, more: object = {}): Record<string, object> {
  return { 'switchboard.config.json': { mcpServers, ...more } };
}
