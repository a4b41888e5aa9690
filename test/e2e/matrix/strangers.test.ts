// The judge of what a host hears finds what it is there for.
import { describe, expect, test } from 'vitest';
import type { Era } from './cells.ts';
import { createAnswers, type Host, type Message } from './hosts.ts';
import { findStrangers } from './strangers.ts';

const META = { 'io.modelcontextprotocol/serverInfo': { name: 'x', version: '1' } };

function judge(
  era: Era,
  received: Message[],
  sent: Message[] = [{ id: 1, method: 'tools/list' }],
  calledOff = new Set<number>(),
) {
  const host = { era, answers: createAnswers(), asked: [], received, sent, calledOff };
  return findStrangers(host as unknown as Host).map((problem) => problem.replace(/: \{.*/s, ''));
}

describe('a host of the handshake era', () => {
  test.each<[string, Message, string[]]>([
    ['an answer', { id: 1, result: { tools: [] } }, []],
    ['a type', { id: 1, result: { resultType: 'complete' } }, ['"resultType", of the newer era']],
    ['caching', { id: 1, result: { ttlMs: 0 } }, ['"ttlMs", of the newer era']],
    ['the server', { id: 1, result: { _meta: META } }, ['a result with its server']],
    [
      '-32021',
      { id: 1, error: { code: -32_021, message: '' } },
      ['an error code of the newer era'],
    ],
    ['-32002', { id: 1, error: { code: -32_002, message: '' } }, []],
  ])('gets %s', (_title, message, problems) => {
    expect(judge('handshake', [message])).toEqual(problems);
  });
});

describe('a host of the modern era', () => {
  const complete = { resultType: 'complete', _meta: META, ttlMs: 0, cacheScope: 'private' };
  const answer: Message = { id: 1, result: complete };

  test.each<[string, Message, string[]]>([
    ['a request', { id: 7, method: 'elicitation/create' }, ['a request, in an era that has none']],
    [
      'the end of an elicitation',
      { method: 'notifications/elicitation/complete' },
      ['a notification that this era does not have'],
    ],
    [
      'news that it did not ask for',
      { method: 'notifications/tools/list_changed' },
      ['news without the subscription that it belongs to'],
    ],
    ['progress', { method: 'notifications/progress', params: { progressToken: 1 } }, []],
  ])('gets %s', (_title, message, problems) => {
    expect(judge('modern', [message, answer])).toEqual(problems);
  });

  test('gets a result without its envelope', () => {
    expect(judge('modern', [{ id: 1, result: {} }])).toEqual([
      'a result without a type',
      'a result without its server',
    ]);
    const { ttlMs: _, ...uncached } = complete;
    expect(judge('modern', [{ id: 1, result: uncached }])).toEqual(['no word about caching']);
  });

  test('gets an error code of the handshake era', () => {
    expect(judge('modern', [{ id: 1, error: { code: -32_042, message: '' } }])).toEqual([
      'an error code of the handshake era',
    ]);
  });
});

describe('answers', () => {
  const answer: Message = { id: 1, result: {} };

  test('one for each request', () => {
    expect(judge('handshake', [])).toEqual(['no answer']);
    expect(judge('handshake', [answer, answer])).toEqual(['a stray answer']);
    expect(judge('handshake', [answer, { id: 2, result: {} }])).toEqual(['a stray answer']);
  });

  test('none for cancelled or ongoing requests', () => {
    const call = { id: 1, method: 'tools/call' };
    expect(judge('handshake', [], [call], new Set([1]))).toEqual([]);
    expect(judge('handshake', [], [{ id: 1, method: 'subscriptions/listen' }])).toEqual([]);
  });
});
