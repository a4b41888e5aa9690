import { expect, test } from 'vitest';
import { cancelledRequest, readOutgoing } from '../../../../src/child/remote/outgoing.ts';
import { notificationText, requestText, resultText } from '../../../../src/rpc/message.ts';
import { Verbatim } from '../../../../src/rpc/verbatim.ts';

test('what a message is can be told from its beginning', () => {
  const params = Verbatim.of({ name: '"method":"x"', id: 3 });
  expect(readOutgoing(requestText(12, 'tools/call', params))).toEqual({
    kind: 'request',
    id: 12,
    method: 'tools/call',
  });
  expect(readOutgoing(notificationText('notifications/initialized', undefined))).toEqual({
    kind: 'notification',
    method: 'notifications/initialized',
  });
  expect(readOutgoing(resultText('"method"', params))).toEqual({ kind: 'answer' });
});

test('a cancellation names its request', () => {
  const params = Verbatim.of({ requestId: 5, reason: 'because' });
  expect(cancelledRequest(notificationText('notifications/cancelled', params))).toBe(5);
  expect(cancelledRequest(notificationText('notifications/cancelled', undefined))).toBe(undefined);
});
