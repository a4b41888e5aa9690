// A server within this process: the same promises as over any other link, as far as they make sense.
import { expect, onTestFinished, test } from 'vitest';
import { InsideLink } from '../../../src/child/inside-link.ts';
import { LinkEnded } from '../../../src/child/link.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { createAnswers, EXACT } from '../../fixtures/servers/answers.mjs';

function open() {
  const news: (string | undefined)[] = [];
  const events: string[] = [];
  const bugs: unknown[] = [];
  let answered = 0;
  const link = new InsideLink({
    secrets: ['hunter2hunter2'],
    onRequest: ({ method }) => Verbatim.of(`asked: ${method}`),
    onNotification: (_, params) => news.push(params?.text),
    onBug: (error) => bugs.push(error),
    open: (send) => {
      const answer = createAnswers({ leave: () => {}, onAnswered: () => answered++ });
      return {
        receive: (text) => answer(text, send),
        setFull: (isFull) => events.push(isFull ? 'full' : 'free'),
        [Symbol.asyncDispose]: async () => void events.push('disposed'),
      };
    },
  });
  onTestFinished(() => link.stop());
  onTestFinished(() => expect(bugs).toEqual([]));
  const request = (method: string) =>
    link.peer.request(method, Verbatim.of({}), { timeoutMs: 60_000 });
  return { link, news, events, request, answered: () => answered };
}

test('answers arrive as they were written, and the server can tell and ask', async () => {
  const { news, request } = open();
  expect((await request('exact')).text).toBe(EXACT);
  await request('tell');
  expect(news).toEqual(['{"n":1.0}']);
  expect((await request('ask')).value).toBe('asked: who');
});

test('while it is paused nothing arrives, and nothing is lost', async () => {
  const { link, news, events, request, answered } = open();
  link.pause();
  const told = request('tell');
  await expect.poll(answered).toBe(1);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(news).toEqual([]);
  link.resume();
  await told;
  expect(news).toHaveLength(1);
  expect(events).toEqual(['full', 'free']);
});

test('stopping ends it once, and fails what waits and what comes later', async () => {
  const { link, events, request } = open();
  const waiting = request('wait').catch((error: unknown) => error);
  await Promise.all([link.stop(), link.stop()]);
  await link.ended;
  expect(await waiting).toBeInstanceOf(LinkEnded);
  await expect(request('exact')).rejects.toBeInstanceOf(LinkEnded);
  expect(events).toEqual(['disposed']);
});

test('it hides secrets, and those it learns', () => {
  const { link } = open();
  link.hide(['swordfish99']);
  expect(link.mask('hunter2hunter2 swordfish99')).toBe('*** ***');
});
