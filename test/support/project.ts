// A project folder for one test: its own HOME, its own servers, gone when the test is over.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const PROGRAM = join(ROOT, 'dist/index.js');
export const FIXTURES = join(ROOT, 'test/fixtures');

export interface Project {
  readonly dir: string;
  /** Writes a file below the project; objects become JSON. */
  write(path: string, content: string | object): string;
  /** An environment in which nothing of the real HOME is seen. */
  readonly env: Record<string, string>;
}

/** `atEnd` is told how to remove the folder, where that is not at the end of the test. */
export function createProject(
  files: Record<string, string | object> = {},
  atEnd: (remove: () => void) => void = onTestFinished,
): Project {
  const dir = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const write = (path: string, content: string | object): string => {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return file;
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const { PATH = '' } = process.env;
  return { dir, write, env: { PATH, HOME: join(dir, 'home'), LANG: 'C.UTF-8' } };
}

/** For servers that load much before they answer, on a machine that has much else to do. */
export const PATIENT = { timeouts: { childSpawnMs: 120_000 } };

/** A configuration whose limits suit a test: short where something is meant to run into them. */
export function configWith(mcpServers: object, more: object = {}): Record<string, object> {
  return { 'switchboard.config.json': { mcpServers, ...more } };
}
