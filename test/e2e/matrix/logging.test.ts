// Log messages: from a level on that the host has said, in the way of its era. A modern host that
// has said none must hear none.
import { expect } from 'vitest';
import type { Host } from './hosts.ts';
import { describeMatrix } from './matrix.ts';
import { textOf } from './results.ts';

const LEVELS = ['debug', 'info', 'warning', 'error'];

describeMatrix('logging', ['direct', 'switchboard', 'suite', 'http'], (tryCell) => {
  tryCell('log-unasked', async ({ host, place, outcome }) => {
    const heard = await hear(host);
    if (host.era === 'modern') expect(heard).toEqual([]);
    else if (outcome === 'differs') expect(LEVELS.slice(-heard.length)).toEqual(heard);
    else if (place.route === 'direct') expect(heard).toEqual(LEVELS);
    // What a server says to those who have not asked is its own choice, and ours.
    else expect(heard).toEqual(expect.arrayContaining(['warning', 'error']));
  });

  tryCell('log-level', async ({ host }) => {
    await host.setLogLevel('warning');
    expect(await hear(host)).toEqual(['warning', 'error']);
    await host.setLogLevel('debug');
    expect(await hear(host)).toEqual(LEVELS);
    await host.setLogLevel('error');
    expect(await hear(host)).toEqual(['error']);
  });
});

/** Has the server log at each level; gives the levels that arrived before the answer. */
async function hear(host: Host): Promise<unknown[]> {
  const from = host.received.length;
  expect(textOf(await host.callTool('log', { levels: LEVELS }))).toBe('logged');
  const messages = host.received
    .slice(from)
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params);
  for (const params of messages) {
    expect(params).toEqual({
      level: params?.['level'],
      logger: expect.stringContaining('fixture'),
      data: { said: params?.['level'] },
    });
  }
  return messages.map((params) => params?.['level']);
}
