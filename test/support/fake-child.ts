// A child without a process, a pool of such children, and what the pool has told.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Child } from '../../src/child/child.ts';
import type { LinkEnd } from '../../src/child/link.ts';
import type { ChildConfig } from '../../src/config/config.ts';
import { Catalog } from '../../src/pool/catalog.ts';
import { Pool } from '../../src/pool/pool.ts';
import type { StartAttempt, StartChild } from '../../src/pool/slot.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';

/** What the pool and the surface need of a child. */
export class FakeChild {
  hasAnswered = true;
  stopped = false;
  isPaused = false;
  calls = 0;
  idleMs = 0;
  lists = 0;
  pid = 4711;
  tools: { name: string }[] = [{ name: 'echo' }];
  readonly called: string[] = [];
  /** Those who wait until nobody waits for an answer; set to hold them up. */
  busy: Promise<void> = Promise.resolve();
  end: (end: LinkEnd) => void = () => {};
  readonly ended = new Promise<LinkEnd>((resolve) => {
    this.end = resolve;
  });

  constructor(...tools: string[]) {
    if (tools.length > 0) this.tools = tools.map((name) => ({ name }));
  }

  get toolNames(): string[] {
    return this.tools.map(({ name }) => name);
  }

  crash(): void {
    this.end({ kind: 'exited', code: 1, signal: null });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.end({ kind: 'exited', code: 0, signal: null });
  }

  async listTools() {
    this.lists++;
    return this.tools;
  }

  async callTool(subtool: string): Promise<Verbatim> {
    this.calls++;
    this.called.push(subtool);
    return Verbatim.of({ content: [{ type: 'text', text: `called ${subtool}` }] });
  }

  settled(): Promise<void> {
    return this.busy;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  explainEnd(): Error {
    return new Error('It has ended.');
  }
}

/** A start that gives fake children. */
export type FakeStart = (config: ChildConfig, attempt: StartAttempt) => Promise<FakeChild>;

export const asStart =
  (start: FakeStart): StartChild =>
  async (config, attempt) => {
    attempt.onStarting();
    return (await start(config, attempt)) as unknown as Child;
  };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function byName(children: readonly ChildConfig[]): Map<string, ChildConfig> {
  return new Map(children.map((child) => [child.name, child]));
}

/** A pool of fake children, closed when the test is over, and what it has told. */
export function createFakePool(children: readonly ChildConfig[], start: FakeStart) {
  const news: string[] = [];
  const listeners = { toolsChanged: (_name: string) => {}, lost: (_name: string) => {} };
  const catalog = new Catalog(temporaryFolder(), () => {});
  const pool = new Pool(byName(children), {
    start: asStart(start),
    catalog,
    events: {
      onToolsChanged: (name) => {
        news.push(`${name} has other tools`);
        listeners.toolsChanged(name);
      },
      onLost: (name) => {
        news.push(`${name} is lost`);
        listeners.lost(name);
      },
    },
  });
  onTestFinished(() => pool[Symbol.asyncDispose]());
  return { pool, catalog, news, listeners };
}

/** Lets everything happen that waits for no timer. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
