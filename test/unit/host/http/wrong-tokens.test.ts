import { expect, test } from 'vitest';
import { WrongTokens } from '../../../../src/host/http/wrong-tokens.ts';
import { openTestHost, rpc, type Sent, send } from '../../../support/http-host.ts';

const sending = (authorization: string | undefined): Sent => ({
  headers: { authorization },
  body: rpc('initialize'),
});

test('after ten wrong tokens an address has to wait, and the right one still works', async () => {
  const host = await openTestHost();
  for (let count = 0; count < 10; count++) {
    expect((await send(host, sending(`Bearer guess-${count}`))).status).toBe(401);
  }
  const { status, headers, messages } = await send(host, sending('Bearer guess'));
  expect(status).toBe(429);
  // What is left of a minute: the ten requests may have taken seconds. The exact value is tested below.
  expect(headers).toMatchObject({
    'retry-after': expect.stringMatching(/^[1-5]?\d$|^60$/),
    connection: 'close',
  });
  expect(messages[0]?.error?.message).toBe(
    'Too many wrong tokens. Check the token, and wait before you retry.',
  );
  expect((await send(host, { body: rpc('initialize') })).status).toBe(200);
});

test('a missing token is not a guess', async () => {
  const host = await openTestHost();
  for (let count = 0; count < 20; count++) {
    expect((await send(host, sending(undefined))).status).toBe(401);
  }
  expect((await send(host, sending('Bearer guess'))).status).toBe(401);
});

test('addresses are counted separately, and again after a minute', () => {
  const tokens = new WrongTokens();
  for (let count = 0; count < 10; count++) expect(tokens.note('a', 0)).toBeUndefined();
  expect(tokens.note('a', 1_000)).toBe(59);
  expect(tokens.note('b', 1_000)).toBeUndefined();
  expect(tokens.note('a', 60_000)).toBeUndefined();
});

test('a thousand addresses are remembered', () => {
  const tokens = new WrongTokens();
  for (let count = 0; count < 11; count++) tokens.note('first', 0);
  for (let count = 0; count < 999; count++) tokens.note(`address-${count}`, 0);
  expect(tokens.note('first', 0)).toBe(60);
  tokens.note('one more', 0);
  expect(tokens.note('first', 0)).toBeUndefined();
});
