// Several hosts at one Switchboard, and one server behind it that asks them all: nobody hears the
// question of another, and no answer goes to another's call. A server of the older era does not say whom
// it asks; as soon as it is known to ask, one host uses it after the other.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createProject, PATIENT } from '../../support/project.ts';
import { eraServer } from '../../support/servers.ts';
import type { Era } from './cells.ts';
import {
  type Host,
  type HostDriver,
  TEST_MS,
  V1,
  V2_HANDSHAKE,
  V2_MODERN,
  withoutSigner,
} from './hosts.ts';
import { heardSince, jsonOf, rootsOf } from './results.ts';
import { startShared } from './shared.ts';
import { waitFor } from './wait.ts';

const PAIRS: readonly (readonly [string, readonly HostDriver[]])[] = [
  ['handshake and handshake', [V1, V2_HANDSHAKE]],
  ['modern and modern', [V2_MODERN, V2_MODERN]],
  ['handshake and modern', [V1, V2_MODERN]],
  ['three of them', [V1, V2_HANDSHAKE, V2_MODERN]],
];
const SERVERS: readonly Era[] = ['handshake', 'modern'];

type Pair = [Host, Host];

test.each(
  PAIRS.flatMap(([title, drivers]) => SERVERS.map((server) => [title, server, drivers] as const)),
)('hosts of %s, with a %s server', { timeout: TEST_MS }, async (_title, server, drivers) => {
  const hosts = await connectAll(server, drivers);
  await haveAsked(hosts);
  const results = await Promise.all(hosts.map((host, number) => askedThrice(host, number)));
  for (const [number, host] of hosts.entries()) {
    const steps = stepsOf(number);
    expect(results[number]).toEqual(steps.map((step) => `${number} on ${step}`));
    expect(host.asked.map(({ params }) => withoutSigner(params.message))).toEqual(steps);
  }
});

test('a server not known to ask: a call may fail, but answers are never mixed up', async () => {
  const hosts = await connectAll('handshake', [V1, V2_MODERN, V2_HANDSHAKE]);
  const results = await Promise.allSettled(hosts.map((host, number) => askedThrice(host, number)));
  for (const [number, host] of hosts.entries()) {
    const right = stepsOf(number).map((step) => `${number} on ${step}`);
    const result = results[number];
    expect([right, undefined]).toContainEqual(
      result?.status === 'fulfilled' ? result.value : undefined,
    );
    const strange = host.asked.filter(
      ({ params }) => !withoutSigner(params.message)?.startsWith(`host ${number}`),
    );
    expect(strange).toEqual([]);
  }
});

test('a tool that asks only for some arguments never asks another host', async () => {
  const [one, other] = (await connectAll('handshake', [V1, V2_MODERN])) as Pair;
  // Without a question it counts as a tool that may run beside others.
  expect(jsonOf(await other.callTool('ask_repeatedly', { times: 0 }))).toEqual([]);
  const stop = new AbortController();
  const journal = join(createProject().dir, 'journal');
  const slow = one.callTool('slow', { journal }, { signal: stop.signal });
  slow.catch(() => {}); // it is cancelled below
  await expect.poll(() => existsSync(journal)).toBe(true);
  await expect(other.callTool('ask_repeatedly', { times: 1 })).rejects.toThrow('several sessions');
  stop.abort();
  expect([...one.asked, ...other.asked]).toEqual([]);
});

test.each(SERVERS)(
  'a host that cannot be asked next to one that can: %s server',
  { timeout: TEST_MS },
  async (server) => {
    const [mute, able] = (await connectAll(server, [V2_MODERN, V1], [{}, undefined])) as Pair;
    await haveAsked([able, mute]);
    const [refused, answered] = await Promise.allSettled([
      mute.callTool('ask_form'),
      able.callTool('ask_form'),
    ]);
    expect(refused.status).toBe('rejected');
    expect(mute.asked).toEqual([]);
    expect(answered.status).toBe('fulfilled');
    expect(able.asked).toHaveLength(1);
  },
);

test.each(SERVERS)(
  'roots are the served project unless they belong to one call: %s server',
  { timeout: TEST_MS },
  async (server) => {
    const project = createProject();
    const hosts = await connectAll(server, [V1, V2_MODERN], [], project);
    await haveAsked(hosts);
    for (const host of hosts) host.answers.roots = () => [{ uri: 'file:///own', name: 'own' }];
    const results = await Promise.all(hosts.map((host) => host.callTool('roots')));
    const roots = rootsOf(project);
    const own = { roots: [{ uri: 'file:///own', name: 'own' }] };
    expect(results.map(jsonOf)).toEqual([roots, server === 'modern' ? own : roots]);
    expect(hosts[0]?.asked).toEqual([]);
  },
);

test.each(SERVERS)('progress and logs go to the calling host: %s server', async (server) => {
  const [one, other] = (await connectAll(server, [V1, V2_MODERN])) as Pair;
  await one.setLogLevel('debug');
  await other.setLogLevel('debug');
  const before = other.received.length;
  await one.callTool('progress', { steps: 3 }, { onProgress: () => {} });
  await one.callTool('log', { levels: ['info', 'error'] });
  await other.callTool('echo', { text: 'mine' });
  // All that the other has heard is the answer to its own call.
  expect(heardSince(other, before).map(({ id }) => id)).toEqual([other.sent.at(-1)?.id]);
});

/** Has the server ask once, so that it is known to. */
async function haveAsked(hosts: readonly Host[]): Promise<void> {
  await hosts[0]?.callTool('ask_form');
  for (const host of hosts) host.asked.splice(0);
}

async function askedThrice(host: Host, number: number): Promise<unknown> {
  return jsonOf(await host.callTool('ask_repeatedly', { times: 3, label: `host ${number}` }));
}

function stepsOf(number: number): string[] {
  return [1, 2, 3].map((step) => `host ${number} ${step}`);
}

/** Hosts at one Switchboard; each says in its answers which it is. */
async function connectAll(
  server: Era,
  drivers: readonly HostDriver[],
  capabilities: readonly (object | undefined)[] = [],
  project = createProject(),
): Promise<Host[]> {
  project.write('switchboard.config.json', {
    mcpServers: { eras: { ...eraServer(server, project.dir), show: 'direct' } },
    ...PATIENT,
  });
  const address = await startShared(project, onTestFinished);
  const hosts = await Promise.all(
    drivers.map(async (driver, number) => {
      const own = capabilities[number];
      const host = await driver.connect(address, own ? { capabilities: own } : {});
      onTestFinished(() => host.close());
      host.answers.elicit = ({ message }) => ({
        action: 'accept',
        content: { name: 'Ada', value: `${number} on ${withoutSigner(message)}` },
      });
      return host;
    }),
  );
  for (const host of hosts) {
    await waitFor(async () => (await host.listTools()).some(({ name }) => name === 'echo'), true);
  }
  return hosts;
}
