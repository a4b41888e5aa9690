// Row 5: results of 10 MB, and how much memory stays in use afterwards. The time ends when the answer has been
// parsed, because a host can't use it earlier; the time of the last byte is shown next to it.
import { type Lane, Lanes } from './lanes.ts';
import { compare, formatTimes, median, sleep, takeTurns } from './measure.ts';
import { residentMegabytes } from './resident.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const LARGE_BYTES = 10_000_000;
const SETTLE_MS = 6_000;

/** Text with one byte per character, such as a base64 image, and text with two. */
const CONTENTS = [
  { what: 'a result of 10 MB', letter: 'x' },
  { what: 'a result of 10 MB, not ASCII', letter: 'ü' },
];

export async function measureLarge({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = new Lanes(workspace, 'handshake', CHILD);
  await lanes.prepare();
  for (const lane of lanes.all) await warmUp(lane);
  await sleep(1_000);
  const before = lanes.each(residentOf);
  const rows: Row[] = [];
  for (const { what, letter } of CONTENTS) {
    progress(what);
    const lastBytes = lanes.each((): number[] => []);
    const whole = lanes.each(
      (lane, name) => () => timeLarge(lane, letter, (ms) => lastBytes[name].push(ms)),
    );
    const ms = await takeTurns(whole, { rounds: rounds(21), warmUps: 2 });
    rows.push({
      group: 5,
      what,
      measured: median(ms.switchboard),
      unit: 'ms',
      against: { what: 'direct', value: median(ms.direct) },
      ratio: compare(ms.switchboard, ms.direct),
      budget: { most: 2 },
      beside: [
        `the relay takes ${formatTimes(ms.relay, ms.direct)} direct; until the last byte, before the client parses it: the relay ${formatTimes(lastBytes.relay, lastBytes.direct)}, Switchboard ${formatTimes(lastBytes.switchboard, lastBytes.direct)}`,
      ],
    });
  }
  const peak = lanes.each(residentOf);
  progress('waiting for memory to be given back');
  await sleep(SETTLE_MS);
  const after = lanes.each(residentOf);
  const story = (name: 'relay' | 'switchboard'): string =>
    `${[before, peak, after].map((at) => at[name].toFixed(0)).join(', ')} MB`;
  rows.push({
    group: 5,
    what: `memory still in use after ${SETTLE_MS / 1_000} s`,
    measured: Math.max(0, after.switchboard - before.switchboard),
    unit: 'MB',
    budget: { most: 10 },
    beside: [
      `resident before, at the end, and after the wait: Switchboard ${story('switchboard')}; the relay ${story('relay')}`,
    ],
  });
  return rows;
}

function residentOf({ client }: Lane): number {
  return residentMegabytes(client.pid);
}

async function warmUp({ client, format }: Lane): Promise<void> {
  for (let call = 0; call < 500; call++) {
    await client.exchange(format('echo', { message: 'ready' }));
  }
}

/** Milliseconds until the answer has been parsed. */
async function timeLarge(
  { client, format }: Lane,
  letter: string,
  onLastByte: (ms: number) => void,
): Promise<number> {
  const json = format('large', { bytes: LARGE_BYTES, letter });
  const begin = performance.now();
  const line = await client.exchange(json);
  onLastByte(performance.now() - begin);
  const answer = JSON.parse(line.toString()) as { result: { content: [{ text: string }] } };
  const ms = performance.now() - begin;
  if (Buffer.byteLength(answer.result.content[0].text) !== LARGE_BYTES) {
    throw new Error('The result is not whole.');
  }
  return ms;
}
