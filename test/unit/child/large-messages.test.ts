import { expect, onTestFinished, test } from 'vitest';
import { ProcessLink } from '../../../src/child/process-link.ts';
import { DEFAULTS } from '../../../src/config/defaults.ts';
import { onBug } from '../../support/fake-child.ts';

/** Prints a large message of many parts and a small one at once, and exits. */
const PRINTER = `
  const items = Array.from({ length: 300_000 }, (_, index) => 'item ' + index);
  const large = { jsonrpc: '2.0', method: 'large', params: { items } };
  const small = { jsonrpc: '2.0', method: 'small' };
  process.stdin.once('data', () => {
    process.stdout.write(JSON.stringify(large) + '\\n' + JSON.stringify(small) + '\\n', () => {
      process.exit();
    });
  });
`;

test('others get a turn before a large message is handled, and those behind it wait', async () => {
  const received: string[] = [];
  const link = await ProcessLink.open({
    name: 'printer',
    command: {
      cmd: process.execPath,
      args: ['-e', PRINTER],
      cwd: process.cwd(),
      env: process.env,
    },
    framing: 'newline',
    messageBytes: 10 << 20,
    messageShape: DEFAULTS.messageShape,
    stopMs: 60_000,
    secrets: [],
    onStderr: () => {},
    onBug,
    onRequest: () => {
      throw new Error('It asks nothing.');
    },
    onNotification: (method) => void received.push(method),
  });
  onTestFinished(() => link.stop());
  link.peer.notify('begin');
  let turns = 0;
  while (received.length === 0) {
    if (link.hasSpoken) turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(turns).toBeGreaterThan(0);
  expect(await link.ended).toMatchObject({ kind: 'exited', code: 0 });
  expect(received).toEqual(['large', 'small']);
});
