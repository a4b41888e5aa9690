// Projects whose sessions share a background process, which doesn't outlive the test.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually, isAlive, processesWith } from './processes.ts';
import { configWith, createProject, type Project } from './project.ts';

export interface SharedProject extends Project {
  /** Switchboard's own folder. */
  readonly home: string;
  /** Where the socket is. */
  readonly run: string;
  /** The pids of all background processes of this home. */
  readonly backgrounds: () => number[];
  /** The pid of the one that accepts sessions. */
  readonly background: () => number;
}

export function createSharedProject(servers: object = {}, more: object = {}): SharedProject {
  const project = createProject(configWith(servers, more));
  return shareProject(project);
}

function shareProject(project: Project): SharedProject {
  const home = join(project.env['HOME'] ?? '', '.switchboard');
  const run = join(home, 'run');
  const backgrounds = () => processesWith(`background ${home} `).map(({ pid }) => pid);
  onTestFinished(async () => {
    for (const pid of backgrounds()) process.kill(pid, 'SIGKILL');
    await eventually(() => backgrounds().length === 0);
  });
  return {
    ...project,
    env: { ...project.env, SWITCHBOARD_SHARED: '1' },
    home,
    run,
    backgrounds,
    background: () => {
      const [note = ''] = notesIn(run);
      const { pid } = JSON.parse(readFileSync(join(run, note), 'utf8')) as { pid: number };
      return pid;
    },
  };
}

function notesIn(run: string): string[] {
  return existsSync(run)
    ? readdirSync(run).filter((name) => /^background-.*\.json$/.test(name))
    : [];
}

/** Kills the background process without warning, and waits until it's gone. */
export async function killBackground(project: SharedProject): Promise<void> {
  const pid = project.background();
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(pid));
}
