// Row 5: a result of 10 MB, and what is left of it in memory.
import { type Lane, Lanes } from './lanes.ts';
import { compare, median, sleep, takeTurns } from './measure.ts';
import { residentMegabytes } from './resident.ts';
import type { Bench, Row } from './row.ts';
import { CHILD } from './workspace.ts';

const LARGE_BYTES = 10_000_000;
const SETTLE_MS = 6_000;

export async function measureLarge({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  await using lanes = new Lanes(workspace, CHILD);
  await lanes.prepare();
  for (const lane of lanes.all) for (let call = 0; call < 500; call++) await echo(lane);
  await sleep(1_000);
  const before = lanes.each(({ client }) => residentMegabytes(client.pid));

  progress('results of 10 MB');
  const turns = { rounds: rounds(15), warmUps: 2 };
  const rows: Row[] = [];
  for (const { what, letter } of CONTENTS) {
    const whole = lanes.each((lane) => () => timeLarge(lane, letter));
    const ms = await takeTurns(whole, turns);
    rows.push({
      group: 5,
      what,
      measured: median(ms.switchboard),
      unit: 'ms',
      against: { what: 'direct', value: median(ms.direct) },
      ratio: compare(ms.switchboard, ms.direct),
      budget: { most: 2 },
      beside: [
        `through the bare relay: ${median(ms.relay).toFixed(1)} ms, ${compare(ms.relay, ms.direct).value.toFixed(2)} × direct`,
      ],
    });
  }

  const peak = lanes.each(({ client }) => residentMegabytes(client.pid));
  progress(`waiting ${SETTLE_MS / 1_000} s for memory to be given back`);
  await sleep(SETTLE_MS);
  const after = lanes.each(({ client }) => residentMegabytes(client.pid));
  console.error({ before, peak, after });
  return rows;
}

const CONTENTS = [
  { what: 'a result of 10 MB', letter: 'x' },
  { what: 'the same, not ASCII', letter: 'ü' },
];

function echo({ client, format }: Lane): Promise<Buffer> {
  return client.exchange(format('echo', { message: 'ready' }));
}

/** Milliseconds from the request to the answer, read and parsed as every host does. */
async function timeLarge({ client, format }: Lane, letter: string): Promise<number> {
  const json = format('large', { bytes: LARGE_BYTES, letter });
  const begin = performance.now();
  const line = await client.exchange(json);
  const last = performance.now();
  const answer = JSON.parse(line.toString()) as { result: { content: [{ text: string }] } };
  const ms = performance.now() - begin;
  if (process.env.LASTBYTE) return last - begin;
  if (Buffer.byteLength(answer.result.content[0].text) < LARGE_BYTES) {
    throw new Error('The result is not whole.');
  }
  return ms;
}
