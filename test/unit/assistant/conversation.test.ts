import { expect, test } from 'vitest';
import { Conversations, type Exchange } from '../../../src/assistant/conversation.ts';
import { NO_USAGE } from '../../../src/assistant/provider.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { eventually } from '../../support/processes.ts';

const turn = (text: string): Exchange => [{ role: 'user', text }];
const LONG = 60_000;

test('each party has its own conversation', () => {
  const conversations = new Conversations(LONG);
  const [ada, bob] = [{}, {}];
  conversations.add(ada, turn('one'));
  conversations.add(ada, turn('two'), 'session');
  expect(conversations.of(ada)).toEqual({ turns: [turn('one'), turn('two')], session: 'session' });
  expect(conversations.of(bob).turns).toEqual([]);
  expect(conversations.of(undefined).turns).toEqual([]);
});

test('it is forgotten after a while without a query', async () => {
  const conversations = new Conversations(20);
  const party = {};
  conversations.add(party, turn('one'));
  expect(conversations.of(party).turns).toHaveLength(1);
  expect(await eventually(() => conversations.of(party).turns.length === 0)).toBe(true);
});

test('nothing is kept if memory is off', () => {
  const conversations = new Conversations(0);
  const party = {};
  conversations.add(party, turn('one'));
  expect(conversations.of(party).turns).toEqual([]);
});

test('memory is limited, and turns that fit stay whole', () => {
  const conversations = new Conversations(LONG);
  const party = {};
  for (let count = 0; count < 30; count++) conversations.add(party, turn(`${count}`));
  expect(conversations.of(party).turns).toHaveLength(20);
  expect(conversations.of(party).turns.at(-1)).toEqual(turn('29'));
  conversations.add(party, turn('x'.repeat(99_960)));
  expect(conversations.of(party).turns.length).toBeLessThanOrEqual(2);
});

/** A query for which a tool was used, with a result and an answer of these lengths. */
function worked(query: string, resultChars: number, answer: string): Exchange {
  const use = { text: '', stop: 'tools', usage: NO_USAGE, raw: { a: 'use' } } as const;
  const done = { text: answer, toolCalls: [], stop: 'done', usage: NO_USAGE, raw: {} } as const;
  const outcome = { id: '1', text: 'r'.repeat(resultChars), isError: false };
  return [
    { role: 'user', text: query },
    {
      role: 'assistant',
      answer: { ...use, toolCalls: [{ id: '1', name: 'look', args: Verbatim.of({}) }] },
    },
    { role: 'tools', outcomes: [outcome] },
    { role: 'assistant', answer: done },
  ];
}

test('a turn that is too large keeps its query and answer, and the turns before it', () => {
  const conversations = new Conversations(LONG);
  const party = {};
  conversations.add(party, turn('before'));
  conversations.add(party, worked('large', 200_000, 'So it is.'));
  expect(conversations.of(party).turns).toEqual([
    turn('before'),
    [
      { role: 'user', text: 'large' },
      { role: 'said', text: 'So it is.' },
    ],
  ]);
  conversations.add(party, worked('small', 10, 'Fine.'));
  expect(conversations.of(party).turns).toHaveLength(3);
  expect(conversations.of(party).turns[2]).toHaveLength(4);
});

test('a query and an answer that are too large are cut', () => {
  const conversations = new Conversations(LONG);
  const party = {};
  conversations.add(party, turn('before'));
  conversations.add(party, worked('q'.repeat(300_000), 10, 'a'.repeat(300_000)));
  const [before, large] = conversations.of(party).turns;
  expect(before).toEqual(turn('before'));
  expect(JSON.stringify(large).length).toBeLessThan(50_000);
  expect(large?.map(({ role }) => role)).toEqual(['user', 'said']);
});
