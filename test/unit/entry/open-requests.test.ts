// The ledger of the background process and the entry's own one, as they work together: whatever was sent before a
// crash, each request has one response.
import { describe, expect, test } from 'vitest';
import { Ledger } from '../../../src/background/ledger.ts';
import { OpenRequests } from '../../../src/entry/open-requests.ts';

const line = (message: object) =>
  Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ping = (id: unknown) => line({ id, method: 'ping' });
const read = (ledger: Ledger, bytes: Buffer) => {
  const text = bytes.toString().trim();
  ledger.read({ text, value: JSON.parse(text) });
};

/** The ids of the errors, as JSON. */
function errorsOf(requests: OpenRequests): string[] {
  return requests
    .take('gone', 'newline')
    .map((error) => /"id":(.*?),"error"/.exec(error.toString())?.[1] ?? error.toString());
}

describe('after a crash', () => {
  test('requests that were not read get an error, notifications and answers are dropped', () => {
    const requests = new OpenRequests();
    requests.add(ping(1));
    requests.add(line({ method: 'notifications/cancelled', params: { requestId: 1 } }));
    requests.add(line({ id: 7, result: {} }));
    requests.add(Buffer.concat([ping('b'), Buffer.from('{"jsonrpc":"2.0","id":3,')]));
    expect(errorsOf(requests)).toEqual(['1', '"b"']);
    expect(Buffer.concat([...requests.input]).toString()).toBe('{"jsonrpc":"2.0","id":3,');
    expect(errorsOf(requests)).toEqual([]);
  });

  test('what was read and closed in one receipt is forgotten', () => {
    const [requests, ledger] = [new OpenRequests(), new Ledger()];
    const [one, two] = [ping(1), ping(2)];
    for (const message of [one, two]) {
      requests.add(message);
      read(ledger, message);
    }
    ledger.close(1);
    requests.note(ledger.receipt(one.length + two.length));
    expect(errorsOf(requests)).toEqual(['2']);
  });

  test('a request is open until the receipt that closes it', () => {
    const [requests, ledger] = [new OpenRequests(), new Ledger()];
    const message = ping('x');
    requests.add(message);
    read(ledger, message);
    requests.note(ledger.receipt(message.length));
    expect(requests.input).toEqual([]);
    ledger.close('x');
    requests.note(ledger.receipt(message.length));
    expect(errorsOf(requests)).toEqual([]);
  });

  test('a cancelled request gets no response', () => {
    const [requests, ledger] = [new OpenRequests(), new Ledger()];
    const messages = [
      ping(1),
      line({ method: 'notifications/cancelled', params: { requestId: 1 } }),
    ];
    let bytes = 0;
    for (const message of messages) {
      requests.add(message);
      read(ledger, message);
      bytes += message.length;
      requests.note(ledger.receipt(bytes));
    }
    expect(errorsOf(requests)).toEqual([]);
  });

  test('ids go back as they were written', () => {
    const [requests, ledger] = [new OpenRequests(), new Ledger()];
    const text = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}';
    requests.add(Buffer.from(`${text}\n`));
    ledger.read({ text, value: JSON.parse(text) });
    requests.note(ledger.receipt(text.length + 1));
    requests.add(Buffer.from('{"jsonrpc":"2.0","id":1.50,"method":"ping"}\n'));
    expect(errorsOf(requests)).toEqual(['12345678901234567890', '1.50']);
    ledger.close(Number('12345678901234567890'));
    requests.note(ledger.receipt(text.length + 1));
    expect(errorsOf(requests)).toEqual([]);
  });

  test('batches are answered in one', () => {
    const [requests, ledger] = [new OpenRequests(), new Ledger()];
    const batch = JSON.stringify([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'x' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    requests.add(Buffer.from(`${batch}\n`));
    const [answer] = requests.take('gone', 'newline').map(String);
    expect(JSON.parse(answer ?? '')).toMatchObject([{ id: 1 }, { id: 2 }]);
    requests.add(Buffer.from(`${batch}\n`));
    ledger.read({ text: batch, value: JSON.parse(batch) });
    requests.note(ledger.receipt(batch.length + 1));
    expect(errorsOf(requests)).toEqual(['1', '2']);
  });

  test('errors come in the framing of the host', () => {
    const requests = new OpenRequests();
    requests.note({ readBytes: 0, opened: ['1'], closed: [] });
    const body = '{"jsonrpc":"2.0","id":2,"method":"ping"}';
    requests.add(
      Buffer.from(`Content-Length: ${body.length}\r\n\r\n${body}Content-Length: 99\r\n\r\n{`),
    );
    const errors = requests.take('gone', 'content-length').map(String);
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toMatch(/^Content-Length: \d+\r\n\r\n\{/);
    expect(String(requests.input[0])).toBe('Content-Length: 99\r\n\r\n{');
  });
});
