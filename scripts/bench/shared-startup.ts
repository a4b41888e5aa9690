// Rows 23 and 24: a session that joins a background process, or has to start it: CPU time of the process that the host
// starts, and time until the answer to tools/list.
import { canCount, cpuMs, SharedProgram } from './background.ts';
import { Client, type Program } from './client.ts';
import { compare, formatTimes, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { prepareFloor, runOnce, timeToList } from './startup.ts';
import { numberedServers } from './workspace.ts';

/** Row 23. */
export async function measureWarmJoin(bench: Bench): Promise<Row[]> {
  const { workspace, rounds, progress } = bench;
  if (!canCount(bench)) return [];
  progress('joining a background process');
  const alone = workspace.switchboard('ten', numberedServers(10));
  const floor = await prepareFloor(workspace, alone, 'handshake');
  await using shared = new SharedProgram(workspace, alone);
  await runOnce(shared.program); // which saves what it has compiled
  const background = shared.pid;
  const share: number[] = [];
  const ms = await takeTurns(
    {
      floor: () => cpuToList(floor),
      alone: () => cpuToList(alone),
      entry: async () => {
        const before = cpuMs(background);
        const entry = await cpuToList(shared.program);
        share.push(cpuMs(background) - before);
        return entry;
      },
    },
    { rounds: rounds(61), warmUps: 5 },
  );
  const both = ms.entry.map((entry, round) => entry + (share.slice(-ms.entry.length)[round] ?? 0));
  return [
    {
      group: 23,
      what: 'CPU to join → tools/list, the entry',
      measured: median(ms.entry),
      unit: 'ms',
      against: { what: 'bare script', value: median(ms.floor) },
      ratio: compare(ms.entry, ms.floor),
      budget: { most: 1.05 },
      beside: [
        `the background process takes another ${median(share).toFixed(1)} ms for a session from its beginning to its end; both together ${formatTimes(both, ms.floor)} the bare script, Switchboard alone ${formatTimes(ms.alone, ms.floor)}`,
      ],
    },
  ];
}

/** Row 24. */
export async function measureColdJoin(bench: Bench): Promise<Row[]> {
  const { workspace, rounds, progress } = bench;
  if (!canCount(bench)) return [];
  progress('starting a background process');
  const alone = workspace.switchboard('ten', numberedServers(10));
  const floor = await prepareFloor(workspace, alone, 'handshake');
  await using shared = new SharedProgram(workspace, alone);
  await runOnce(shared.program);
  const ms = await takeTurns(
    {
      floor: () => timeToList(floor),
      alone: () => timeToList(alone),
      warm: () => timeToList(shared.program),
      cold: async () => {
        await shared.stop();
        return timeToList(shared.program);
      },
    },
    { rounds: rounds(31), warmUps: 2 },
  );
  return [
    {
      group: 24,
      what: 'start → tools/list, background not running',
      measured: median(ms.cold),
      unit: 'ms',
      against: { what: 'bare script', value: median(ms.floor) },
      ratio: compare(ms.cold, ms.floor),
      budget: { most: 2.3 },
      beside: [
        `if it runs: ${formatTimes(ms.warm, ms.floor)} the bare script; Switchboard alone ${formatTimes(ms.alone, ms.floor)}`,
      ],
    },
  ];
}

/** The CPU time of the process until the answer to tools/list, in milliseconds. */
async function cpuToList(program: Program): Promise<number> {
  await using client = new Client(program);
  await client.shakeHands();
  await client.ask('tools/list');
  return cpuMs(client.pid);
}
