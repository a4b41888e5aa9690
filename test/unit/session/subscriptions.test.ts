import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { Id } from '../../../src/rpc/message.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { Subscriptions } from '../../../src/session/subscriptions.ts';
import { createScriptedPeer } from '../../support/scripted-peer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const ID = 'io.modelcontextprotocol/subscriptionId';

function createSubscriptions() {
  const { peer, sent, about } = createScriptedPeer();
  const subscriptions = new Subscriptions(peer);
  const watched: string[][] = [];
  const listen = (id: Id, notifications: unknown) => {
    const cancellation = new Cancellation();
    const params = Verbatim.of({ notifications });
    const request = { id, method: 'subscriptions/listen', params, cancellation };
    const ended = subscriptions.listen(request, async (uris) => {
      watched.push([...uris]);
    });
    ended.catch(() => {});
    return { ended, cancel: () => cancellation.cancel(new Error('The host has had enough.')) };
  };
  /** What was told since the last look: the subscription and the method. */
  const told = () =>
    sent
      .splice(0)
      .map(({ method, params }) => `${String(params?._meta?.[ID])} ${method?.slice(14)}`);
  return { subscriptions, listen, told, sent, about, watched };
}

test('a subscription is acknowledged with what it includes, under its id', async () => {
  const { listen, sent, about } = createSubscriptions();
  listen('s', {
    toolsListChanged: true,
    promptsListChanged: 'yes',
    resourcesListChanged: false,
    resourceSubscriptions: ['a:1', 7, 'a:2'],
    others: true,
  });
  await turn();
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['a:1', 'a:2'] },
        _meta: { [ID]: 's' },
      },
    },
  ]);
  expect(about).toEqual(['s']);
});

test.each([undefined, null, [], 'tools'])('a filter of %j is refused', async (wish) => {
  const { listen, told } = createSubscriptions();
  await expect(listen(1, wish).ended).rejects.toMatchObject({ code: -32602 });
  expect(told()).toEqual([]);
});

test('each gets only what it asked for', async () => {
  const { subscriptions, listen, told } = createSubscriptions();
  listen(1, { toolsListChanged: true, resourcesListChanged: true });
  listen(2, { promptsListChanged: true });
  listen(3, {});
  await turn();
  told();
  subscriptions.announce();
  subscriptions.announceSoon('prompts');
  subscriptions.announceSoon('resources');
  vi.advanceTimersByTime(50);
  expect(told()).toEqual([
    '1 tools/list_changed',
    '2 prompts/list_changed',
    '1 resources/list_changed',
  ]);
});

test('many changes are announced once', async () => {
  const { subscriptions, listen, told } = createSubscriptions();
  listen(1, { toolsListChanged: true });
  await turn();
  told();
  for (let time = 0; time < 100; time++) subscriptions.announceSoon();
  await subscriptions.announceAndSettle();
  expect(told()).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(told()).toEqual(['1 tools/list_changed']);
  subscriptions.announceSoon();
  vi.advanceTimersByTime(1_000);
  expect(told()).toEqual(['1 tools/list_changed']);
});

test('a resource change goes to its subscribers, with the server’s parameters', async () => {
  const { subscriptions, listen, sent } = createSubscriptions();
  listen(1, { resourceSubscriptions: ['a:1', 'a:2'] });
  listen(2, { resourceSubscriptions: ['a:2'] });
  await turn();
  sent.splice(0);
  const text = '{"uri":"a:1","_meta":{"own":12345678901234567890},"title":"x"}';
  subscriptions.resourceUpdated(new Verbatim(text, JSON.parse(text)));
  subscriptions.resourceUpdated(Verbatim.of({ uri: 'a:3' }));
  subscriptions.resourceUpdated(Verbatim.of({ uri: 7 }));
  subscriptions.resourceUpdated(Verbatim.of(null));
  expect(sent.map(({ method, params }) => ({ method, params }))).toEqual([
    {
      method: 'notifications/resources/updated',
      params: {
        uri: 'a:1',
        title: 'x',
        _meta: { [ID]: 1, own: JSON.parse('12345678901234567890') },
      },
    },
  ]);
});

test('servers get the resources that anyone watches', async () => {
  const { listen, watched } = createSubscriptions();
  const one = listen(1, { resourceSubscriptions: ['a:1', 'a:2'] });
  listen(2, { resourceSubscriptions: ['a:2'] });
  await turn();
  one.cancel();
  await one.ended;
  expect(watched).toEqual([['a:1', 'a:2'], ['a:1', 'a:2'], ['a:2']]);
});

test('a cancelled subscription gets nothing more', async () => {
  const { subscriptions, listen, told } = createSubscriptions();
  const one = listen(1, { toolsListChanged: true });
  listen(2, { toolsListChanged: true });
  await turn();
  told();
  one.cancel();
  await one.ended;
  subscriptions.announceSoon();
  vi.advanceTimersByTime(50);
  expect(told()).toEqual(['2 tools/list_changed']);
});

test('a resource that cannot be watched does not end the subscription', async () => {
  const { peer, sent } = createScriptedPeer();
  const subscriptions = new Subscriptions(peer);
  const params = Verbatim.of({ notifications: { resourceSubscriptions: ['a:1'] } });
  const request = { id: 1, method: 'subscriptions/listen', params };
  void subscriptions.listen({ ...request, cancellation: new Cancellation() }, async () => {
    throw new Error('no such resource');
  });
  await turn();
  expect(sent[0]?.method).toBe('notifications/subscriptions/acknowledged');
});

test('closing ends all of them, each with a result under its id', async () => {
  const { subscriptions, listen, told } = createSubscriptions();
  const all = [listen('a', { toolsListChanged: true }), listen(2, {})];
  await turn();
  told();
  subscriptions.announceSoon();
  subscriptions.close();
  vi.advanceTimersByTime(1_000);
  const results = await Promise.all(all.map(({ ended }) => ended));
  expect(results.map(({ value }) => value)).toEqual(
    ['a', 2].map((id) => ({ _meta: { [ID]: id }, resultType: 'complete' })),
  );
  expect(told()).toEqual([]);
});

test('a hundred can be open; one more is refused, and there is room again later', async () => {
  const { listen } = createSubscriptions();
  const all = Array.from({ length: 100 }, (_, index) => listen(index, {}));
  await turn();
  await expect(listen(100, {}).ended).rejects.toMatchObject({ code: -32602 });
  all[0]?.cancel();
  await turn();
  const late = listen(101, {});
  late.cancel();
  expect((await late.ended).value).toMatchObject({ resultType: 'complete' });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
