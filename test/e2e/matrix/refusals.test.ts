// Hosts that cannot be asked: the call fails at once, with an answer that says so, and the host does
// not hear the question.
import { describe, expect, onTestFinished, test } from 'vitest';
import { V2_HANDSHAKE } from './hosts.ts';
import { cellIn, describeMatrix, type Trial } from './matrix.ts';
import { placesOn, titleOf, visit } from './places.ts';
import { heardSince, jsonOf, rootsOf } from './results.ts';

const MISSING_CAPABILITY = -32_021;

describe('a host without capabilities', () => {
  describeMatrix(
    'refusals',
    ['direct', 'switchboard', 'suite', 'http'],
    (tryCell) => {
      tryCell('no-form', (trial) =>
        expectRefused(trial, 'ask_form', { elicitation: { form: {} } }),
      );
      tryCell('no-sampling', (trial) => expectRefused(trial, 'sample', { sampling: {} }));
    },
    { capabilities: {} },
  );
});

describe('a host without roots', () => {
  describeMatrix(
    'refusals',
    ['switchboard', 'suite', 'http'],
    (tryCell) => {
      tryCell('no-roots', async (trial) => {
        const { host, place, project } = trial;
        const isModern = host.era === 'modern' && place.server === 'modern';
        if (place.route !== 'http' || isModern) {
          return expectRefused(trial, 'roots', { roots: {} });
        }
        expect(jsonOf(await host.callTool('roots'))).toEqual(rootsOf(project));
        expect(host.asked).toEqual([]);
      });
    },
    { capabilities: {} },
  );
});

describe('a host with forms', () => {
  describeMatrix(
    'refusals',
    ['direct', 'switchboard', 'http'],
    (tryCell) => {
      tryCell('no-url', (trial) => expectRefused(trial, 'ask_url', { elicitation: { url: {} } }));
    },
    { capabilities: { elicitation: { form: {} } } },
  );
});

const olderHosts = placesOn('direct', 'switchboard').filter(
  ({ driver }) => driver === V2_HANDSHAKE,
);
// Before 2025-11-25 there were only forms, and the capability had no members.
test.each(olderHosts.map((place) => [titleOf(place), place] as const))(
  'a host of 2025-06-18: %s',
  async (_title, place) => {
    const { outcome } = cellIn('refusals', 'older-host', place);
    const visited = await visit(place, onTestFinished, {
      capabilities: { elicitation: {} },
      revision: '2025-06-18',
    });
    await expectRefused({ ...visited, place, outcome }, 'ask_url', {});
    expect(await visited.host.callTool('ask_form')).not.toHaveProperty('isError');
  },
);

async function expectRefused({ host, outcome }: Trial, tool: string, required: object) {
  expect(outcome).toBe('refused');
  const from = host.received.length;
  const ending = host.callTool(tool).then(
    ({ isError }) => (isError === true ? 'failed' : 'worked'),
    () => 'failed',
  );
  expect(await ending).toBe('failed');
  const heard = heardSince(host, from);
  expect(heard.map(({ id, method }) => ({ id, method }))).toEqual([
    { id: host.sent.at(-1)?.id, method: undefined },
  ]);
  expect(host.asked).toEqual([]);
  // The newer era has words for it.
  const told = heard.map(({ error }) => ({ code: error?.code, data: error?.data }));
  const missing = { code: MISSING_CAPABILITY, data: { requiredCapabilities: required } };
  expect(host.era === 'modern' ? told : [missing]).toEqual([missing]);
}
