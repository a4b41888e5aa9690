import { expect, test } from 'vitest';
import { failedServers } from '../../../../src/agents/codex/failed-servers.ts';
import { attachedServer } from '../../../support/agents.ts';

const PREFIX = 'error creating thread: Fatal error: Failed to initialize session: ';
const servers = new Map(
  ['one', 'two', 'two_2'].map((key) => [key, attachedServer({ key })] as const),
);
const reasonsIn = (message: string) =>
  failedServers(message, servers, (text) => text.replaceAll('hush', '***')).map(
    ({ server, reason }) => [server.key, reason],
  );

test('finds the servers the engine names, each with its reason', () => {
  const message = `${PREFIX}required MCP servers failed to initialize: two_2: timed out; after 10 s; one: No such file: two (os error 2).`;
  expect(reasonsIn(message)).toEqual([
    ['two_2', 'timed out; after 10 s'],
    ['one', 'No such file: two (os error 2)'],
  ]);
});

test('a reason is short and contains no secret', () => {
  const long = `${'x'.repeat(298)}hush`;
  const [[, reason = ''] = []] = reasonsIn(
    `required MCP servers failed to initialize: one: ${long}`,
  );
  expect(reason.length).toBeLessThan(310);
  expect(reason).not.toMatch(/h/);
});

test.each(['something else: one: x', 'required MCP servers failed to initialize: three: x', ''])(
  'any other error names no servers: %s',
  (message) => {
    expect(reasonsIn(message)).toEqual([]);
  },
);
