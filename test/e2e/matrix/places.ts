// Where a cell of the matrix is tried: a host, a server, and the route between them. The direct route,
// for a host and a server of the same era, proves the test's own host and server; the others prove that
// nothing gets lost in Switchboard.
//
// `npm test` tries every feature in all four combinations of eras, and once through a suite and over HTTP.
// The thorough suite tries the other places.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProject, PATIENT, PROGRAM, type Project } from '../../support/project.ts';
import { eraServer } from '../../support/servers.ts';
import type { Era } from './cells.ts';
import {
  type ConnectOptions,
  HOSTS,
  type Host,
  type HostDriver,
  type Launch,
  REQUEST_MS,
  V1,
  V2_MODERN,
} from './hosts.ts';
import { startShared } from './shared.ts';

/**
 * `suite`: through Switchboard, where the server is one tool. `http`: through a Switchboard that
 * many hosts can reach at an address. Otherwise the host starts what it talks to.
 */
export type Route = 'direct' | 'switchboard' | 'suite' | 'http';

export interface Place {
  readonly driver: HostDriver;
  /** The file of the server in test/fixtures/eras, without `-server.mjs`. */
  readonly server: Era | 'both';
  readonly route: Route;
}

export interface Visit {
  readonly host: Host;
  readonly project: Project;
  /** A file for a tool to write into. */
  readonly journal: string;
  readonly readJournal: () => string[];
}

const SERVERS: readonly Place['server'][] = ['handshake', 'modern', 'both'];
const NAME = 'eras';

const ALL: readonly Place[] = [
  ...HOSTS.flatMap((driver) =>
    SERVERS.filter((server) => server === driver.era || server === 'both').map(
      (server): Place => ({ driver, server, route: 'direct' }),
    ),
  ),
  ...HOSTS.flatMap((driver) =>
    SERVERS.map((server): Place => ({ driver, server, route: 'switchboard' })),
  ),
  ...(['suite', 'http'] as const).flatMap((route) =>
    [V1, V2_MODERN].flatMap((driver) =>
      (['handshake', 'modern'] as const).map((server): Place => ({ driver, server, route })),
    ),
  ),
];

/** Every pair of eras and every route once. */
const CORE: readonly Place[] = [
  { driver: V1, server: 'handshake', route: 'switchboard' },
  { driver: V1, server: 'modern', route: 'suite' },
  { driver: V2_MODERN, server: 'handshake', route: 'http' },
  { driver: V2_MODERN, server: 'modern', route: 'switchboard' },
];

function isCore(place: Place): boolean {
  return CORE.some(
    ({ driver, server, route }) =>
      driver === place.driver && server === place.server && route === place.route,
  );
}

/** The places this run tries; vitest.config.ts says which. */
const TRIED = ALL.filter((place) => isCore(place) === (process.env['PLACES'] === 'core'));

export function placesOn(...routes: Route[]): Place[] {
  return TRIED.filter(({ route }) => routes.includes(route));
}

/** With a server that knows both eras, a host finds what it finds with one of its own. */
export function eraOf({ driver, server }: Place): Era {
  return server === 'both' ? driver.era : server;
}

export function titleOf({ driver, server, route }: Place): string {
  const way = {
    direct: 'directly',
    switchboard: 'through Switchboard',
    suite: 'through a suite',
    http: 'through Switchboard over HTTP',
  };
  const kind = server === 'both' ? 'a server of both eras' : `a ${server} server`;
  return `${way[route]}: ${driver.name} and ${kind}`;
}

/** `config` is added to Switchboard's configuration. */
export interface VisitOptions extends ConnectOptions {
  readonly config?: { readonly timeouts?: object };
}

/** Connects; `atEnd` is told how to leave again. */
export async function visit(
  place: Place,
  atEnd: (leave: () => void | Promise<void>) => void,
  { config = {}, ...options }: VisitOptions = {},
): Promise<Visit> {
  const project = createProject({}, atEnd);
  const server = serverFor(place, project);
  const show = place.route === 'suite' ? 'suite' : 'direct';
  project.write('switchboard.config.json', {
    mcpServers: { [NAME]: { ...server, show } },
    ...config,
    timeouts: { ...PATIENT.timeouts, ...config.timeouts },
  });
  const connected = await place.driver.connect(await launchFor(place, project, atEnd), options);
  atEnd(() => connected.close());
  const host = place.route === 'suite' ? throughSuite(connected) : connected;
  if (place.route === 'switchboard' || place.route === 'http') await waitForTools(host);
  const journal = join(project.dir, 'journal');
  return { host, project, journal, readJournal: () => readLines(journal) };
}

function serverFor({ server }: Place, { dir }: Project) {
  return eraServer(server, dir); // the folder is there to find the process by
}

async function launchFor(
  place: Place,
  project: Project,
  atEnd: (leave: () => Promise<void>) => void,
): Promise<Launch> {
  if (place.route === 'http') return startShared(project, atEnd);
  const switchboard = { command: process.execPath, args: [PROGRAM] };
  const program = place.route === 'direct' ? serverFor(place, project) : switchboard;
  return { ...program, cwd: project.dir, env: project.env };
}

function throughSuite(host: Host): Host {
  const suite = `${NAME}_suite`;
  const through: Host = Object.create(host);
  through.callTool = (subtool, args = {}, options = {}) =>
    host.callTool(suite, { action: 'call', subtool, args }, options);
  return through;
}

/** The first time, Switchboard finds out after the start what a server lists. */
async function waitForTools(host: Host): Promise<void> {
  const end = performance.now() + REQUEST_MS;
  while (!(await host.listTools()).some(({ name }) => name === 'echo')) {
    if (performance.now() > end) throw new Error("Switchboard does not list the server's tools.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return []; // nothing was written yet
  }
}
