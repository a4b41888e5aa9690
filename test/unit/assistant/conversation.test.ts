import { expect, test } from 'vitest';
import { Conversations, type Turn } from '../../../src/assistant/conversation.ts';
import { eventually } from '../../support/processes.ts';

const turn = (text: string): Turn => [{ role: 'user', text }];
const LONG = 60_000;

test('each party has a conversation of its own', () => {
  const conversations = new Conversations(LONG);
  const [ada, bob] = [{}, {}];
  conversations.add(ada, turn('one'));
  conversations.add(ada, turn('two'), 'session');
  expect(conversations.of(ada)).toEqual({ turns: [turn('one'), turn('two')], session: 'session' });
  expect(conversations.of(bob).turns).toEqual([]);
  expect(conversations.of(undefined).turns).toEqual([]);
});

test('it is forgotten when nobody has asked for a while', async () => {
  const conversations = new Conversations(20);
  const party = {};
  conversations.add(party, turn('one'));
  expect(conversations.of(party).turns).toHaveLength(1);
  expect(await eventually(() => conversations.of(party).turns.length === 0)).toBe(true);
});

test('none is kept where none is wanted', () => {
  const conversations = new Conversations(0);
  const party = {};
  conversations.add(party, turn('one'));
  expect(conversations.of(party).turns).toEqual([]);
});

test('no more is kept than a bound, and turns stay whole', () => {
  const conversations = new Conversations(LONG);
  const party = {};
  for (let count = 0; count < 30; count++) conversations.add(party, turn(`${count}`));
  expect(conversations.of(party).turns).toHaveLength(20);
  expect(conversations.of(party).turns.at(-1)).toEqual(turn('29'));
  conversations.add(party, turn('x'.repeat(99_960)));
  expect(conversations.of(party).turns.length).toBeLessThanOrEqual(2);
  conversations.add(party, turn('x'.repeat(200_000)));
  expect(conversations.of(party).turns).toEqual([]);
});
