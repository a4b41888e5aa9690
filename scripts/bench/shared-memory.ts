// Row 26: ten sessions that use all of their servers: how many server processes run, and the memory of everything,
// compared with ten sessions alone.
import { childrenOf } from '../../test/support/processes.ts';
import { canCount, proportionalMegabytes, SharedProgram } from './background.ts';
import { Client, type Program } from './client.ts';
import { compare, median, sleep, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { numberedServers, realServer } from './workspace.ts';

const SESSIONS = 10;
const SERVERS = 5;
const SETTLE_MS = 2_000;

type Use = readonly [server: string, subtool: string, args: object];

const TRIVIAL = Array.from(
  { length: SERVERS },
  (_, index): Use => [`server-${index}`, 'echo', { message: 'ready' }],
);
const PUBLISHED: readonly Use[] = [
  ['everything', 'echo', { message: 'ready' }],
  ['filesystem', 'list_allowed_directories', {}],
  ['memory', 'read_graph', {}],
];

export async function measureSharedMemory(bench: Bench): Promise<Row[]> {
  const { workspace, progress } = bench;
  if (!canCount(bench)) return [];
  progress(`memory of ${SESSIONS} sessions × ${SERVERS} servers`);
  const trivial = workspace.switchboard('crowd-trivial', numberedServers(SERVERS));
  const few = await weighBoth(bench, trivial, TRIVIAL, bench.rounds(5));
  progress(`memory of ${SESSIONS} sessions × ${PUBLISHED.length} published servers`);
  const servers = [
    realServer('everything'),
    realServer('filesystem', workspace.dir),
    realServer('memory'),
  ];
  const published = workspace.switchboard('crowd-published', servers);
  const real = await weighBoth(bench, published, PUBLISHED, 1);
  return [
    {
      group: 26,
      what: `${SESSIONS} sessions × ${SERVERS} servers, server processes`,
      measured: Math.max(...few.processes),
      unit: 'processes',
      budget: { most: SERVERS },
      beside: [`with the published ones ${Math.max(...real.processes)}`],
    },
    memoryRow(`memory of ${SESSIONS} sessions × ${SERVERS} servers`, few, 0.28),
    memoryRow('the same, everything, filesystem, memory', real, 0.2),
  ];
}

interface Weights {
  readonly alone: number[];
  readonly shared: number[];
  /** Of the entries among the shared ones. */
  readonly entries: number[];
  /** How many server processes the shared sessions have. */
  readonly processes: number[];
}

function memoryRow(what: string, { alone, shared, entries }: Weights, most: number): Row {
  const share = (100 * median(entries)) / median(shared);
  return {
    group: 26,
    what,
    measured: median(shared),
    unit: 'MB',
    against: { what: 'alone', value: median(alone) },
    ratio: compare(shared, alone),
    budget: { most },
    beside: [`the ${SESSIONS} entries are ${share.toFixed(0)} % of it`],
  };
}

async function weighBoth(
  { workspace }: Bench,
  program: Program,
  uses: readonly Use[],
  rounds: number,
): Promise<Weights> {
  await using shared = new SharedProgram(workspace, program);
  const entries: number[] = [];
  const processes: number[] = [];
  const taken = await takeTurns(
    {
      alone: () => weigh(program, uses, (pids) => pids.flatMap(withChildren)),
      shared: () =>
        weigh(shared.program, uses, (pids) => {
          entries.push(proportionalMegabytes(pids));
          const all = withChildren(shared.pid);
          processes.push(all.length - 1);
          return [...pids, ...all];
        }),
    },
    { rounds, warmUps: 0 },
  );
  return { ...taken, entries, processes };
}

/** Ten sessions that have used all servers; `processesOf` tells which processes belong to them. */
async function weigh(
  program: Program,
  uses: readonly Use[],
  processesOf: (pids: number[]) => number[],
): Promise<number> {
  const clients = Array.from({ length: SESSIONS }, () => new Client(program));
  try {
    await Promise.all(clients.map((client) => useAll(client, uses)));
    await sleep(SETTLE_MS);
    return proportionalMegabytes(processesOf(clients.map(({ pid }) => pid)));
  } finally {
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  }
}

async function useAll(client: Client, uses: readonly Use[]): Promise<void> {
  await client.shakeHands();
  for (const [server, subtool, args] of uses) {
    await client.callTool(`${server}_suite`, { action: 'call', subtool, args });
  }
}

function withChildren(pid: number): number[] {
  return [pid, ...childrenOf(pid).map((child) => child.pid)];
}
