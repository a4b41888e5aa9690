// Projects whose sessions share a background process, which doesn't outlive the test.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { wholeLines } from './lines.ts';
import { eventually, isAlive, processesWith } from './processes.ts';
import { configWith, createProject, type Project } from './project.ts';
import type { RawHost } from './raw-host.ts';
import { testServer } from './servers.ts';

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
    env: withoutAlone(project.env),
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

function withoutAlone(env: Project['env']): Project['env'] {
  const { SWITCHBOARD_ALONE: _alone, ...others } = env;
  return others;
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

/** The error for requests that a killed background process hasn't answered. */
export const ENDED =
  'The background process of Switchboard ended before it responded. The call may or may not have run.';

export interface RecordedProject extends SharedProject {
  /** The argument `n` of every call that the servers named "rec" have received. */
  readonly calls: () => string[];
}

/** A project with a server that records what it gets, and answers calls of `hold` never. */
export function createRecorded(): RecordedProject {
  const project = createSharedProject();
  const file = join(project.dir, 'record');
  project.write('switchboard.config.json', {
    mcpServers: { rec: testServer('recording', file), box: testServer('toolbox') },
  });
  return {
    ...project,
    calls: () =>
      wholeLines(file).flatMap((line) => {
        if (line.startsWith('started')) return [];
        const { method, params } = JSON.parse(line) as {
          method: string;
          params: { arguments: { n: string } };
        };
        return method === 'tools/call' ? [params.arguments.n] : [];
      }),
  };
}

/** How many responses each request of the host got. */
function countAnswers(host: RawHost): Record<string, number> {
  const counts = Object.fromEntries(host.requested.map((id) => [JSON.stringify(id), 0]));
  for (const message of host.messages) {
    if (message['method'] !== undefined) continue;
    const key = JSON.stringify(message['id']);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

export function expectOneAnswerEach(host: RawHost): void {
  const wrong = Object.entries(countAnswers(host)).filter(([, count]) => count !== 1);
  expect(wrong).toEqual([]);
  expect(host.impure).toEqual([]);
}
