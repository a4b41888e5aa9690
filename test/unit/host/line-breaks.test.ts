// Messages to a host are one line to every reader, over stdio and over HTTP.
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { StdioHost } from '../../../src/host/stdio.ts';
import type { Framing } from '../../../src/rpc/framing.ts';
import {
  begin,
  type FakeSession,
  modern,
  open,
  openTestHost,
  rpc,
  type Sent,
  StreamReader,
  type TestHost,
} from '../../support/http-host.ts';
import {
  expectOneLine,
  LINE_BREAKS,
  linesOf,
  messagesOf,
  withHidden,
} from '../../support/line-breaks.ts';
import { asAnswer } from '../../support/outgoing.ts';

/** The bytes of messages that were sent to a host over stdio. */
async function writtenFor(framing: Framing, ...messages: string[]): Promise<Buffer> {
  const output = new PassThrough();
  const host = new StdioHost({
    input: new PassThrough(),
    output,
    messageLimits: { limitBytes: 1 << 20, shape: DEFAULTS.messageShape },
    onFull: () => {},
    onDrained: () => {},
    onGivenUp: () => {},
    onBug: (error) => expect.unreachable(String(error)),
  });
  for (const json of messages) host.send(json, framing);
  await once(output, 'readable');
  return output.read() as Buffer;
}

/** The messages in a stream of events, which must be the same for every reader. */
async function readEvents(text: string): Promise<unknown[]> {
  const lines = await linesOf(Buffer.from(text));
  const data = lines.flatMap((line) => /^data: (.+)$/.exec(line)?.[1] ?? []);
  const parsed: string[] = [];
  createParser({ onEvent: ({ data: json }) => parsed.push(json) }).feed(text);
  expect(parsed.filter(Boolean)).toEqual(data);
  return data.map((json) => JSON.parse(json) as unknown);
}

/** A POST that waits for what its session says, and that session. */
async function openPost(host: TestHost, sent: Sent) {
  const count = host.executed().length;
  const response = open(host, sent);
  await expect.poll(() => host.executed().length).toBe(count + 1);
  return { response, session: host.sessions.at(-1) as FakeSession };
}

describe.each(Object.entries(LINE_BREAKS))('%s', (_name, lineBreak) => {
  const json = withHidden(lineBreak);
  const value = JSON.parse(json) as unknown;
  const answer = `{"jsonrpc":"2.0","id":1,"result":${json}}`;
  const news = `{"jsonrpc":"2.0","method":"news","params":${json}}`;

  test('does not split a message over stdio', async () => {
    expect(await messagesOf(await writtenFor('newline', news, answer))).toEqual([
      { jsonrpc: '2.0', method: 'news', params: value },
      { jsonrpc: '2.0', id: 1, result: value },
    ]);
  });

  test('is not in a message with a header', async () => {
    const [header, body = ''] = (await writtenFor('content-length', answer))
      .toString()
      .split('\r\n\r\n');
    await expectOneLine(body);
    expect(header).toBe(`Content-Length: ${Buffer.byteLength(body)}`);
  });

  test.each(['handshake', 'modern'])('is not in an answer over HTTP (%s)', async (era) => {
    const host = await openTestHost();
    const headers = era === 'modern' ? undefined : await begin(host);
    const sent = headers ? { headers, body: rpc('wait') } : modern('wait');
    const { response, session } = await openPost(host, sent);
    session.send(answer, asAnswer(1, {}));
    const reader = new StreamReader(await response);
    await reader.closed;
    await expectOneLine(reader.text);
    expect(JSON.parse(reader.text)).toMatchObject({ result: value });
  });

  test.each(['handshake', 'modern'])('does not split an event of a POST (%s)', async (era) => {
    const host = await openTestHost();
    const headers = era === 'modern' ? undefined : await begin(host);
    const sent = headers ? { headers, body: rpc('wait') } : modern('wait');
    const { response, session } = await openPost(host, sent);
    session.tell(news, 1);
    session.send(answer, asAnswer(1, {}));
    const reader = new StreamReader(await response);
    await reader.closed;
    expect(await readEvents(reader.text)).toMatchObject([{ params: value }, { result: value }]);
  });

  test("does not split an event of the session's own stream, or of a resumed one", async () => {
    const host = await openTestHost();
    const headers = await begin(host);
    host.sessions[0]?.tell(news); // kept until there is a stream
    const stream = new StreamReader(await open(host, { method: 'GET', headers }));
    host.sessions[0]?.tell(news);
    await expect.poll(() => stream.events.length).toBe(2);
    expect(await readEvents(stream.text)).toMatchObject([{ params: value }, { params: value }]);

    const from = { ...headers, 'last-event-id': stream.events[0]?.id };
    const resumed = new StreamReader(await open(host, { method: 'GET', headers: from }));
    await expect.poll(() => resumed.events.length).toBe(1);
    expect(await readEvents(resumed.text)).toMatchObject([{ params: value }]);
  });
});
