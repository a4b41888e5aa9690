// Questions that end badly: nobody answers, the call is called off, the server or the host goes. Then
// nothing may hang, nothing may be left, and the next call works.
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually, serversWith } from '../../support/processes.ts';
import type { FeatureId } from './cells.ts';
import { type Host, TEST_MS } from './hosts.ts';
import { cellIn, type Trial } from './matrix.ts';
import { placesOn, titleOf, type VisitOptions, visit } from './places.ts';
import { jsonOf, textOf } from './results.ts';

/** How long Switchboard lets a user think in these tests. */
const QUESTION_MS = 2_000;
const IMPATIENT = { config: { timeouts: { questionMs: QUESTION_MS } } };

describeEnding(
  'unanswered',
  ['switchboard', 'http'],
  async (trial) => {
    const { host, outcome, journal, readJournal } = trial;
    const withdrawn = neverAnswer(host);
    const call = endingOf(host, { journal });
    if (outcome === 'none') {
      // Nobody waits: what ends is the host's own patience.
      expect(await eventually(() => host.asked.length === 1)).toBe(true);
      await expectWorking(host);
      return;
    }
    expect(await eventually(() => host.asked.length === 1)).toBe(true);
    if (host.era === 'modern') {
      // The call lapses while the user thinks; his late answer finds nothing to go to.
      expect(await eventually(() => readJournal().includes('cancelled'))).toBe(true);
      withdrawn.answer();
    } else {
      expect(await eventually(() => withdrawn.isWithdrawn())).toBe(true);
    }
    expect(await call).toBe('failed');
    await expectWorking(host);
  },
  IMPATIENT,
);

describeEnding(
  'cancel-asked',
  ['direct', 'switchboard', 'http'],
  async (trial) => {
    const { host, place, journal, readJournal } = trial;
    // SDK v1 does not withdraw a question whose id is 0, the first one.
    await host.callTool('ask_form');
    const withdrawn = neverAnswer(host);
    const abort = new AbortController();
    const call = endingOf(host, { journal }, abort.signal);
    expect(await eventually(() => host.asked.length === 2)).toBe(true);
    abort.abort('enough');
    expect(await call).toBe('failed');
    expect(await eventually(() => host.era === 'modern' || withdrawn.isWithdrawn())).toBe(true);
    // A modern server has no call open while a question is.
    const isTold = () => place.server !== 'handshake' || readJournal().includes('cancelled');
    expect(await eventually(isTold)).toBe(true);
    await expectWorking(host);
  },
  IMPATIENT,
);

describeEnding('dies-asked', ['switchboard', 'http'], async ({ host, outcome }) => {
  const pid = Number(textOf(await host.callTool('pid')));
  host.answers.elicit = async () => {
    process.kill(pid, 'SIGKILL');
    await eventually(() => isGone(pid));
    return { action: 'accept', content: { name: 'Ada' } };
  };
  const call = host.callTool('ask_form').then(
    (result) => (result['isError'] === true ? 'failed' : jsonOf(result)),
    () => 'failed',
  );
  const answered = { action: 'accept', content: { name: 'Ada' } };
  expect(await call).toEqual(outcome === 'refused' ? 'failed' : answered);
  expect(host.asked).toHaveLength(1);
  await expectWorking(host);
});

describeEnding('host-leaves', ['direct', 'switchboard'], async ({ host, project }) => {
  const withdrawn = neverAnswer(host);
  const call = endingOf(host, {});
  expect(await eventually(() => host.asked.length === 1)).toBe(true);
  await host.close();
  withdrawn.answer();
  expect(await call).toBe('failed');
  expect(await eventually(() => serversWith(project.dir).length === 0)).toBe(true);
});

function describeEnding(
  id: FeatureId,
  routes: Parameters<typeof placesOn>,
  body: (trial: Trial) => Promise<void>,
  options: VisitOptions = {},
): void {
  describe.each([id])('%s', () => {
    const places = placesOn(...routes).filter(({ server }) => server !== 'both');
    test.each(places.map((place) => [titleOf(place), place] as const))(
      '%s',
      { timeout: TEST_MS },
      async (_title, place) => {
        expect.hasAssertions();
        const { outcome } = cellIn('endings', id, place);
        const visited = await visit(place, onTestFinished, options);
        await body({ ...visited, place, outcome });
      },
    );
  });
}

/** The user does not answer until `answer` is called. */
function neverAnswer(host: Host): { isWithdrawn(): boolean; answer(): void } {
  let isWithdrawn = false;
  let answer = (): void => {};
  host.answers.elicit = (_question, signal) =>
    new Promise((resolve) => {
      answer = () => resolve({ action: 'accept', content: { name: 'late' } });
      signal.addEventListener('abort', () => {
        isWithdrawn = true;
        resolve({ action: 'cancel' });
      });
    });
  return { isWithdrawn: () => isWithdrawn, answer: () => answer() };
}

/** Whether the one who started a process has also noticed its end. */
function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

/** How a call ends that asks; the host itself would wait for longer than anybody here does. */
function endingOf(host: Host, args: object, signal?: AbortSignal): Promise<string> {
  const options = { timeoutMs: 2 * TEST_MS, ...(signal && { signal }) };
  return host.callTool('ask_form', args, options).then(
    ({ isError }) => (isError === true ? 'failed' : 'worked'),
    () => 'failed',
  );
}

async function expectWorking(host: Host): Promise<void> {
  expect(textOf(await host.callTool('echo', { text: 'still here' }))).toBe('still here');
  host.answers.elicit = () => ({ action: 'decline' });
  expect(jsonOf(await host.callTool('ask_form'))).toEqual({ action: 'decline' });
}
