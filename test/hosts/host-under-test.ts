// One host, and what all its checks need: declaring them, starting sessions, finding leftover processes.
import { expect, onTestFinished, test } from 'vitest';
import { processesOf, type Running } from '../support/processes.ts';
import { createProject, PATIENT, PROGRAM, type Project } from '../support/project.ts';
import { CHECKS, type CheckId } from './checks/table.ts';
import type { HostDriver, McpEntry } from './drivers/driver.ts';
import { environmentOf, HostSession, type SessionOptions } from './host-session.ts';

export type AtEnd = (close: () => void | Promise<void>) => void;

interface StartOptions extends Partial<SessionOptions> {
  readonly project: Project;
  /** Start this host instead. */
  readonly driver?: HostDriver;
}

export class HostUnderTest {
  readonly driver: HostDriver;
  /** The second host in the checks over HTTP. */
  readonly partner: HostDriver;
  readonly #folders: string[] = [];

  constructor(driver: HostDriver, partner: HostDriver) {
    this.driver = driver;
    this.partner = partner;
  }

  /** Declares a check as a test, if it applies to this host. */
  check(id: CheckId, run: () => Promise<void>): void {
    if (this.driver.cannot[id] !== undefined) return;
    test.each([CHECKS[id]])('%s', async () => {
      expect.hasAssertions();
      await run();
    });
  }

  createProject(servers: Record<string, object> = {}, atEnd: AtEnd = onTestFinished): Project {
    const project = createProject({}, atEnd);
    this.#folders.push(project.dir);
    configure(project, servers);
    return project;
  }

  /** Starts the host, with Switchboard over stdio unless `entry` says otherwise. */
  async start(options: StartOptions, atEnd: AtEnd = onTestFinished): Promise<HostSession> {
    const { driver = this.driver, project, ...rest } = options;
    const entry = stdioEntry(project);
    const session = await HostSession.start(driver, { project, entry, approval: 'all', ...rest });
    atEnd(() => session.close());
    return session;
  }

  /** Running processes of all projects so far. */
  get processes(): Running[] {
    return this.#folders.flatMap((folder) => processesOf(folder));
  }
}

export function configure(project: Project, mcpServers: Record<string, object>): void {
  project.write('switchboard.config.json', { ...PATIENT, mcpServers });
}

/** Sets the project's flip servers. */
export function configureFlip(project: Project, servers: Record<string, object>): void {
  project.write('.switchboard/servers.json', servers);
}

export function stdioEntry(project: Project, env: Record<string, string> = {}): McpEntry {
  const all = { ...environmentOf(project), ...env };
  return { command: process.execPath, args: [PROGRAM], env: all };
}
