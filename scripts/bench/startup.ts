// Rows 1, 2 and 12: from the start of the process to the answer to tools/list, with a host's usual requests
// (initialize, its answer, initialized, tools/list; in the modern era only tools/list).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client, type Program } from './client.ts';
import { type HostEra, paramsOf } from './host.ts';
import { compare, median, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { numberedServers, type Workspace } from './workspace.ts';

/** The program waits one second after it has started. */
const KEPT_AFTER_MS = 2_500;

export async function measureStartup({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const ten = workspace.switchboard('ten', numberedServers(10));
  const files = workspace.switchboard('files', numberedServers(500));
  const mainFile = workspace.switchboardWithMainFile('main-file', numberedServers(500));
  const floor = await prepareFloor(workspace, ten, 'handshake');
  // It never runs long enough to save anything.
  const unknown = workspace.withNewProgram(ten);
  progress('starting, with 10 and with 500 servers');
  await settle([ten, files, mainFile]);
  const ms = await takeTurns(
    {
      node: () => timeOf(() => runNothing(workspace.script('-e', '0'))),
      floor: () => timeToList(floor),
      ten: () => timeToList(ten),
      unknown: () => timeToList(unknown),
      files: () => timeToList(files),
      mainFile: () => timeToList(mainFile),
    },
    { rounds: rounds(41) },
  );
  const tenMs = median(ms.ten);
  return [
    {
      group: 1,
      what: 'start → tools/list, 10 servers',
      measured: tenMs,
      unit: 'ms',
      against: { what: 'bare script', value: median(ms.floor) },
      ratio: compare(ms.ten, ms.floor),
      budget: { most: 1.5 },
      beside: [
        `the first time, when nothing compiled is kept: ${median(ms.unknown).toFixed(1)} ms`,
        `node -e 0, from start to exit: ${median(ms.node).toFixed(1)} ms`,
      ],
    },
    {
      group: 1,
      what: 'the same, in milliseconds',
      measured: tenMs,
      unit: 'ms',
      budget: { most: 500 },
      beside: [],
    },
    ...[
      { what: 'start → tools/list, 500 child files', taken: ms.files },
      { what: 'start → tools/list, 500 in main file', taken: ms.mainFile },
    ].map(({ what, taken }) => ({
      group: 2,
      what,
      measured: median(taken),
      unit: 'ms' as const,
      against: { what: '10 servers', value: tenMs },
      ratio: compare(taken, ms.ten),
      budget: { most: 1.5 },
      beside: [],
    })),
  ];
}

/** Row 12: the same for a modern host, which requests the list at once. */
export async function measureModernStartup({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const ten = workspace.switchboard('ten', numberedServers(10));
  const floor = await prepareFloor(workspace, ten, 'modern');
  progress('starting, with 10 servers, for a modern host');
  await settle([ten]);
  const ms = await takeTurns(
    {
      floor: () => timeToList(floor, 'modern'),
      ten: () => timeToList(ten, 'modern'),
      handshake: () => timeToList(ten),
    },
    { rounds: rounds(41) },
  );
  const measured = { group: 12, measured: median(ms.ten), unit: 'ms' } as const;
  return [
    {
      ...measured,
      what: 'start → tools/list, modern host',
      against: { what: 'bare script', value: median(ms.floor) },
      ratio: compare(ms.ten, ms.floor),
      budget: { most: 1.5 },
      beside: [`with a handshake: ${median(ms.handshake).toFixed(1)} ms`],
    },
    { ...measured, what: 'the same, in milliseconds', budget: { most: 500 }, beside: [] },
  ];
}

/** Recently written files may change again unnoticed, so nothing about them is remembered yet. */
const SETTLED_MS = 2_500;

/**
 * From then on, these programs remember what they know about their projects' files, as most starts do: the first start
 * notes what it was allowed to use, the second what it needs of those notes.
 */
export async function settle(programs: readonly Program[]): Promise<void> {
  for (let starts = 0; starts < 2; starts++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    for (const program of programs) await timeToList(program);
  }
}

/** Runs the program long enough to save its compiled code, as nearly every installation has. */
export async function runOnce(program: Program): Promise<void> {
  await using client = new Client(program);
  await client.shakeHands();
  await client.ask('tools/list', paramsOf('handshake', {}));
  await new Promise((resolve) => setTimeout(resolve, KEPT_AFTER_MS));
}

export async function timeToList(program: Program, era: HostEra = 'handshake'): Promise<number> {
  const begin = performance.now();
  await using client = new Client(program);
  if (era === 'handshake') await client.shakeHands();
  await client.ask('tools/list', paramsOf(era, {}));
  return performance.now() - begin;
}

/** The bare script, with Switchboard's answers; fails unless it then gives the same ones. */
export async function prepareFloor(
  workspace: Workspace,
  program: Program,
  era: HostEra,
): Promise<Program> {
  const real = await answersOf(program, era);
  const [list, hello] = real.map((line) => JSON.stringify((JSON.parse(line) as Answer).result));
  const file = workspace.write(`floor-${era}.json`, { initialize: hello, 'tools/list': list });
  const floor = workspace.floor(file);
  const imitated = await answersOf(floor, era);
  if (imitated.join('\n') !== real.join('\n')) {
    throw new Error(`floor.mjs does not answer the same bytes:\n${imitated.join('\n')}`);
  }
  return floor;
}

interface Answer {
  readonly result: unknown;
}

/** A program's answer to tools/list, and to the handshake if there is one. */
async function answersOf(program: Program, era: HostEra): Promise<string[]> {
  await using client = new Client(program);
  const hello =
    era === 'handshake'
      ? [(await client.ask('initialize', { protocolVersion: '2025-06-18' })).toString()]
      : [];
  const list = await client.ask('tools/list', paramsOf(era, {}));
  return [list.toString(), ...hello];
}

async function runNothing({ args, cwd, env }: Program): Promise<void> {
  await once(spawn(process.execPath, [...args], { cwd, env, stdio: 'pipe' }), 'exit');
}
