// A board in front of fake servers, and a session that counts its notifications.
import { Cancellation } from '../../src/base/cancellation.ts';
import type { ChildConfig, Config } from '../../src/config/config.ts';
import { DEFAULTS } from '../../src/config/defaults.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { Board } from '../../src/surface/board.ts';
import type { Audience, Surface } from '../../src/surface/surface.ts';
import { agentSettings, noAgents } from './agent-settings.ts';
import { byName, createFakePool, FakeChild, type FakeStart } from './fake-child.ts';
import { SILENT_LOG } from './silent-log.ts';

export function boardConfig(
  children: readonly ChildConfig[],
  flipSuites: Config['flipSuites'] = 'auto',
): Config {
  return {
    project: '/project',
    home: '/home/.switchboard',
    homeFolder: '/home',
    files: [],
    children: byName(children),
    flipSuites,
    messageBytes: 1 << 20,
    messageShape: DEFAULTS.messageShape,
    era: 'auto',
    questionMs: 60_000,
    introspection: DEFAULTS.introspection,
    toolChanges: DEFAULTS.toolChanges,
    stopMs: 2_000,
    agents: agentSettings(),
    logging: { level: 'info', form: 'compact', folder: undefined },
    warnings: [],
  };
}

/** A session that counts its notifications. */
export class FakeAudience implements Audience {
  client: string | undefined;
  neverRelists = false;
  isStatic = false;
  /** Whether it fetches the list after a change. */
  fetches = true;
  ask: Audience['ask'];
  told = 0;
  toldSoon = 0;
  /** The lists other than tools it was notified about. */
  readonly others: string[] = [];
  readonly updated: string[] = [];
  /** What happens while an answer waits for the host. */
  meanwhile: () => void | Promise<void> = () => {};

  announce(): void {
    this.told++;
  }

  announceSoon(kind = 'tools'): void {
    if (kind === 'tools') this.toldSoon++;
    else this.others.push(kind);
  }

  resourceUpdated(params: Verbatim): void {
    this.updated.push(params.text);
  }

  async announceAndSettle(): Promise<boolean> {
    this.told++;
    await this.meanwhile();
    return this.fetches;
  }
}

export function createBoard(
  children: readonly ChildConfig[],
  start: FakeStart = async ({ name }) => new FakeChild(`${name}_tool`),
  flipSuites?: Config['flipSuites'],
) {
  const { pool, listeners } = createFakePool(children, start);
  const board = new Board(boardConfig(children, flipSuites), pool, SILENT_LOG, noAgents);
  listeners.listChanged = (name, kind) => board.listChanged(name, kind);
  listeners.resourceUpdated = (name, params) => board.resourceUpdated(name, params);
  listeners.lost = (name) => board.lost(name);
  const update = (changed: readonly ChildConfig[]): void => {
    board.update(boardConfig(changed, flipSuites), noAgents);
  };
  return { board, pool, update };
}

export function openView(board: Board) {
  const audience = new FakeAudience();
  return { audience, view: board.open(audience) };
}

export function callView(view: Surface, name: string, args: object = {}): Promise<Verbatim> {
  return view.callTool(name, Verbatim.of(args), { cancellation: new Cancellation() });
}

export async function say(view: Surface, name: string, args: object = {}): Promise<string> {
  const { value } = await callView(view, name, args);
  return (value as { content: { text: string }[] }).content.map(({ text }) => text).join('');
}
