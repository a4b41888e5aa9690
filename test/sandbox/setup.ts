// A home directory with secrets, a project in it, and a server in a sandbox that tries to reach them.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createProject, FIXTURES, PATIENT, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';

export const SECRETS = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.gnupg/key',
  '.netrc',
  '.kube/config',
  '.docker/config.json',
  '.config/gh/hosts.yml',
  '.codex/auth.json',
  '.claude/.credentials.json',
  '.claude.json',
  '.mozilla/firefox/logins.json',
  '.config/google-chrome/Default/Cookies',
  '.switchboard/tokens/a.json',
];

export interface SandboxedProject extends Project {
  /** The home directory. */
  readonly homeFolder: string;
}

/** The project is `~/work`, with the server's script in it. */
export function createHome(): SandboxedProject {
  const outer = createProject();
  const homeFolder = join(outer.dir, 'home');
  const dir = join(homeFolder, 'work');
  mkdirSync(dir, { recursive: true });
  for (const path of SECRETS) outer.write(join('home', path), 'secret');
  outer.write('home/.bashrc', 'settings');
  outer.write('home/other/file', 'other');
  outer.write('outside/file', 'outside');
  // A clone of this repository may be in /tmp, which the sandbox replaces.
  for (const script of ['reaches.mjs', 'server.mjs']) {
    cpSync(join(FIXTURES, 'servers', script), join(dir, script));
  }
  const write = (path: string, content: string | object) =>
    outer.write(join('home/work', path), content);
  return { dir, homeFolder, write, env: { ...outer.env, HOME: homeFolder } };
}

export function reaching(sandbox: unknown, ...args: string[]): object {
  return { command: process.execPath, args: ['reaches.mjs', ...args], sandbox };
}

export interface Reach {
  readonly host: RawHost;
  /** What a tool of the server says. */
  readonly attempt: (tool: string, args?: object) => Promise<string>;
}

/** Connects a host, with the server `box` in the project's file. */
export async function connectBox(project: Project, sandbox: unknown): Promise<Reach> {
  project.write('switchboard.config.json', { ...PATIENT, mcpServers: { box: reaching(sandbox) } });
  return connectHome(project);
}

export async function connectHome(project: Project): Promise<Reach> {
  const host = await RawHost.connect(project);
  const attempt = async (tool: string, args: object = {}) =>
    textOf(await host.call('box', tool, args));
  return { host, attempt };
}
