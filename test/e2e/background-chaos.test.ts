// Entries, servers and the background process are killed in random order while hosts call tools. `npm run chaos` runs
// a thousand such schedules; these are its first ones.
import { expect, test } from 'vitest';
import { runSchedule } from '../../scripts/chaos/schedule.ts';

const SCHEDULES = Array.from({ length: 20 }, (_, index) => index + 1);

test.each(SCHEDULES)('schedule %d', async (number) => {
  const { faults, history, said } = await runSchedule(number);
  expect(faults, said.join('\n')).toEqual([]);
  expect(history.executed.length).toBeGreaterThan(0);
});
