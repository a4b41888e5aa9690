// A home directory and a project on disk, and what a sandbox makes of them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Sandbox } from '../../../../src/config/config.ts';
import type { SandboxPlaces } from '../../../../src/trust/sandbox/defaults.ts';

export interface SandboxFolders extends SandboxPlaces {
  /** The folder of everything. */
  readonly root: string;
  /** Replaces the folder in a text. */
  readonly plain: (text: string) => string;
}

/** `files` are empty; a path that ends with a slash is a folder. */
export function sandboxFolders(
  files: readonly string[] = [],
  some: Partial<SandboxPlaces> = {},
): SandboxFolders {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-sandbox-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of ['home/work/', ...files]) {
    const path = join(root, file);
    mkdirSync(file.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!file.endsWith('/')) writeFileSync(path, '');
  }
  const homeFolder = join(root, 'home');
  const project = join(homeFolder, 'work');
  return {
    system: 'linux',
    root,
    homeFolder,
    project,
    cwd: project,
    home: join(homeFolder, '.switchboard'),
    env: {},
    plain: (text) => text.replaceAll(root, '<root>'),
    ...some,
  };
}

export function sandboxSettings(some: Partial<Sandbox> = {}): Sandbox {
  return {
    allowRead: [],
    allowWrite: [],
    denyRead: [],
    denyWrite: [],
    network: 'on',
    hasDomains: false,
    origin: '/home/me/.switchboard/switchboard.config.json',
    ...some,
  };
}
