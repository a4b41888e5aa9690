// What a host must not hear: words of the other era, requests where its era has none, answers that
// it did not ask for, and silence where it did. Read from what passed the wire, after the fact.
import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client';
import type { Host, Message } from './hosts.ts';

const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);
/** What only comes to those who listen. */
const LISTENED = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/subscriptions/acknowledged',
]);
const MODERN_NOTIFICATIONS = new Set([
  ...LISTENED,
  'notifications/progress',
  'notifications/message',
  'notifications/cancelled',
]);
const HANDSHAKE_CODES = new Set([-32002, -32042]);
const MODERN_CODES = new Set([-32020, -32021, -32022]);

/** A sentence for each message that should not have come, or should have. */
export function findStrangers(host: Host): string[] {
  const judge = host.era === 'modern' ? judgeModern : judgeHandshake;
  const methods = new Map(
    host.sent.flatMap(({ id, method }) => (id !== undefined && method ? [[id, method]] : [])),
  );
  const problems = host.received.flatMap((message) =>
    [...judge(message, methods.get(message.id ?? ''))].map(
      (problem) => `${problem}: ${JSON.stringify(message).slice(0, 300)}`,
    ),
  );
  return [...problems, ...judgeAnswers(host)];
}

function* judgeModern({ id, method, params, result, error }: Message, asked?: string) {
  if (id !== undefined && method) yield 'a request, in an era that has none';
  if (method && id === undefined) {
    if (!MODERN_NOTIFICATIONS.has(method)) yield 'a notification that this era does not have';
    if (LISTENED.has(method) && metaOf(params)?.[SUBSCRIPTION_ID_META_KEY] === undefined) {
      yield 'news without the subscription that it belongs to';
    }
  }
  if (result) {
    if (typeof result['resultType'] !== 'string') yield 'a result without a type';
    if (metaOf(result)?.[SERVER_INFO_META_KEY] === undefined) yield 'a result without its server';
    const isFinal = result['resultType'] === 'complete' && CACHEABLE.has(asked ?? '');
    if (isFinal && !('ttlMs' in result && 'cacheScope' in result)) yield 'no word about caching';
  }
  if (error && HANDSHAKE_CODES.has(error.code)) yield 'an error code of the handshake era';
}

function* judgeHandshake({ method, params, result, error }: Message) {
  if (method?.startsWith('notifications/subscriptions/')) yield 'a notification of the newer era';
  if (metaOf(params)?.[SUBSCRIPTION_ID_META_KEY] !== undefined) yield 'a subscription';
  for (const key of ['resultType', 'ttlMs', 'cacheScope', 'inputRequests', 'requestState']) {
    if (result && key in result) yield `"${key}", of the newer era`;
  }
  if (metaOf(result)?.[SERVER_INFO_META_KEY] !== undefined) yield 'a result with its server';
  if (error && MODERN_CODES.has(error.code)) yield 'an error code of the newer era';
}

/** Every request has one answer, unless it was called off or goes on for as long as it is wanted. */
function judgeAnswers({ sent, received, calledOff }: Host): string[] {
  const answers = received.filter(({ method }) => method === undefined);
  const unanswered = sent.filter(
    ({ id, method }) =>
      method !== undefined &&
      id !== undefined &&
      method !== 'subscriptions/listen' &&
      !calledOff.has(id) &&
      !answers.some((answer) => answer.id === id),
  );
  const stray = answers.filter(
    ({ id }, index) =>
      !sent.some((request) => request.method && request.id === id) ||
      answers.findIndex((other) => other.id === id) !== index,
  );
  return [
    ...unanswered.map((message) => `no answer: ${JSON.stringify(message).slice(0, 300)}`),
    ...stray.map((message) => `a stray answer: ${JSON.stringify(message).slice(0, 300)}`),
  ];
}

function metaOf(part: Message['params'] | Message['result']): Record<string, unknown> | undefined {
  return part?.['_meta'] as Record<string, unknown> | undefined;
}
