// A server without a process, a pool of such servers, and a record of the pool's events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SwitchboardError } from '../../src/base/errors.ts';
import { Calls } from '../../src/calls/calls.ts';
import type { Child } from '../../src/child/child.ts';
import type { Greeting } from '../../src/child/handshake.ts';
import type { LinkEnd } from '../../src/child/link.ts';
import type { ListKind } from '../../src/child/list-pages.ts';
import { NOTHING_HELD, type ScreenVerdict } from '../../src/child/screen.ts';
import type { ChildConfig } from '../../src/config/config.ts';
import type { PermissionRules } from '../../src/config/permission-rules.ts';
import type { RefusedTool } from '../../src/mcp/clean-lists.ts';
import type { LogLevel } from '../../src/mcp/logging.ts';
import type { Tool } from '../../src/mcp/tools.ts';
import { Catalog } from '../../src/pool/catalog.ts';
import { Pool } from '../../src/pool/pool.ts';
import type { StartChild } from '../../src/pool/slot.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { toolDemandOf } from '../../src/surface/modes/table.ts';
import { SILENT_LOG } from './silent-log.ts';
import { type SessionAttempt, startAlone } from './start-child.ts';

type PublicPart<T> = { [key in keyof T]: T[key] };

/** The parts of a server that the pool and the surface need. Doesn't compile if a new member is missing. */
export class FakeChild implements PublicPart<Child> {
  hasAnswered = true;
  hasTasks = false;
  stopped = false;
  isPaused = false;
  isHeld = false;
  sessions = 1;
  apart: readonly string[] = [];
  parties: object[] = [];
  onCallsChanged: (() => void) | undefined;
  calls = 0;
  idleMs = 0;
  lists = 0;
  pid = 4711;
  tools: Tool[] = [{ name: 'echo' }];
  refusedTools: readonly RefusedTool[] = [];
  heldPrompts: readonly string[] = [];
  verdict: ScreenVerdict = NOTHING_HELD;
  /** Its lists other than tools. */
  others: { [kind in ListKind]?: readonly unknown[] } = {};
  greeting: Greeting = {
    era: 'handshake',
    revision: '2025-11-25',
    serverName: undefined,
    serverVersion: undefined,
    capabilities: { tools: {} },
    instructions: undefined,
  };
  config: ChildConfig | undefined;
  readonly called: string[] = [];
  /** The arguments of each call, as JSON. */
  readonly received: string[] = [];
  /** The JSON it returns for every call. */
  result: string | undefined;
  /** Its requests other than tools: the method and the parameters as JSON. */
  readonly asked: string[] = [];
  /** Each set of resources it was subscribed to. */
  readonly watched: string[][] = [];
  readonly logLevels: (LogLevel | undefined)[] = [];
  readonly notified: string[] = [];
  /** A string that must not be stored. */
  secret: string | undefined;
  /** Resolves when no request is in flight; override it to delay that. */
  busy: Promise<void> = Promise.resolve();
  end: (end: LinkEnd) => void = () => {};
  readonly ended = new Promise<LinkEnd>((resolve) => {
    this.end = resolve;
  });

  constructor(...tools: string[]) {
    if (tools.length > 0) this.tools = tools.map((name) => ({ name }));
  }

  get hasListed(): boolean {
    return this.lists > 0;
  }

  get instructions(): string | undefined {
    return this.greeting.instructions;
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

  async listRaw(kind: ListKind): Promise<readonly unknown[]> {
    return kind === 'tools' ? this.tools : this.list(kind);
  }

  async callTool(subtool: string, args: Verbatim): Promise<Verbatim> {
    this.calls++;
    this.called.push(subtool);
    this.received.push(args.text);
    if (this.result !== undefined) return Verbatim.parse(this.result);
    return Verbatim.of({ content: [{ type: 'text', text: `called ${subtool}` }] });
  }

  async list(kind: ListKind): Promise<unknown[]> {
    return [...(this.others[kind] ?? [])];
  }

  async ask(method: string, params: Verbatim): Promise<Verbatim> {
    this.asked.push(`${method} ${params.text}`);
    return Verbatim.of({ asked: method });
  }

  async watch(uris: ReadonlySet<string>): Promise<void> {
    this.watched.push([...uris]);
  }

  reconfigure(config: ChildConfig): void {
    this.config = config;
  }

  setLogLevel(level: LogLevel | undefined): void {
    this.logLevels.push(level);
  }

  notify(method: string): void {
    this.notified.push(method);
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

  explainEnd(): SwitchboardError {
    return new SwitchboardError('CHILD_EXITED', 'It has ended.');
  }

  masked(text: string): string {
    return text;
  }

  get secrets(): readonly string[] {
    return this.secret === undefined ? [] : [this.secret];
  }

  holdsSecret(text: string): boolean {
    return this.secret !== undefined && text.includes(this.secret);
  }

  async hasTool(subtool: string): Promise<boolean> {
    return this.toolNames.includes(subtool);
  }

  excerptOf({ text }: Verbatim): string {
    return text.slice(0, 200);
  }
}

/** A start that returns fake servers. */
export type FakeStart = (config: ChildConfig, attempt: SessionAttempt) => Promise<FakeChild>;

export const asStart = (start: FakeStart, catalog: Catalog): StartChild =>
  startAlone(catalog, async (config, attempt) => {
    attempt.onStarting();
    return (await start(config, attempt)) as unknown as Child;
  });

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function byName(children: readonly ChildConfig[]): Map<string, ChildConfig> {
  return new Map(children.map((child) => [child.name, child]));
}

/** A bug fails the test as an uncaught error. */
export const onBug = (error: unknown): never => {
  throw error;
};

/** A pool of fake servers, closed after the test, and a record of its events. */
export function createFakePool(children: readonly ChildConfig[], start: FakeStart) {
  const news: string[] = [];
  const listeners = {
    listChanged: (_name: string, _kind: ListKind) => {},
    resourceUpdated: (_name: string, _params: Verbatim) => {},
    lost: (_name: string) => {},
  };
  const catalog = new Catalog(temporaryFolder(), () => {});
  const pool = new Pool(byName(children), {
    start: asStart(start, catalog),
    catalog,
    events: {
      onListChanged: (name, kind) => {
        news.push(`${name} has other ${kind}`);
        listeners.listChanged(name, kind);
      },
      onResourceUpdated: (name, params) => listeners.resourceUpdated(name, params),
      onLost: (name) => {
        news.push(`${name} is lost`);
        listeners.lost(name);
      },
    },
    toolDemand: toolDemandOf,
    onBug,
    countWorking: async () => Infinity, // starts never give up their turn early
  });
  onTestFinished(() => pool[Symbol.asyncDispose]());
  return { pool, catalog, news, listeners };
}

/** The path to these servers, as configured. */
export function callsFor(
  children: readonly ChildConfig[],
  pool: Pool,
  permissions?: PermissionRules,
): Calls {
  const logging = { level: 'info', form: 'compact', folder: undefined } as const;
  const settings = { children: byName(children), logging, permissions };
  return new Calls(settings, { pool, log: SILENT_LOG });
}

/** Lets everything run that doesn't wait for a timer. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
