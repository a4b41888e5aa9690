// A host that waits for a server to start hears of it, in its era, before the server's own progress.
import { chmodSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject, PATIENT } from '../support/project.ts';
import { RawHost } from '../support/raw-host.ts';
import { eraServer } from '../support/servers.ts';

interface Progress {
  readonly progressToken: string;
  readonly progress: number;
  readonly message?: string;
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const GREETING = { protocolVersion: '2025-11-25', capabilities: {} };

test.each([
  {
    era: 'handshake',
    greet: (host: RawHost) => host.request('initialize', GREETING),
    envelope: {},
  },
  {
    era: 'modern',
    greet: (host: RawHost) => host.request('server/discover', { _meta: ENVELOPE }),
    envelope: ENVELOPE,
  },
])('through npx, for a host of the $era era', async ({ greet, envelope }) => {
  const project = createProject();
  const { command, args } = eraServer('handshake', project.dir);
  // As npx is that has to download first.
  const npx = project.write(
    'bin/npx',
    `#!/bin/sh\nsleep 3\nexec '${command}' ${args.map((arg) => `'${arg}'`).join(' ')}\n`,
  );
  chmodSync(npx, 0o755);
  project.write('switchboard.config.json', {
    mcpServers: { box: { command: 'npx', args: ['-y', 'box'] } },
    ...PATIENT,
  });
  const path = `${join(project.dir, 'bin')}${delimiter}${project.env['PATH']}`;
  const host = new RawHost(project, { env: { PATH: path } });
  await greet(host);
  const { result } = await host.request('tools/call', {
    name: 'box_suite',
    arguments: { action: 'call', subtool: 'progress', args: { steps: 3 } },
    _meta: { ...envelope, progressToken: 'mine' },
  });
  expect(result?.content).toEqual([{ type: 'text', text: 'counted' }]);
  const told = host.messages
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params as Progress);
  expect(told.every(({ progressToken }) => progressToken === 'mine')).toBe(true);
  const values = told.map(({ progress }) => progress);
  expect(values.toSorted((a, b) => a - b)).toEqual(values);
  expect(new Set(values).size).toBe(values.length);
  // The server's own values are as it gave them.
  expect(values.slice(-3)).toEqual([1, 2, 3]);
  expect(told[0]?.message).toBe('Starting server "box"; npx may be downloading it');
  expect(values.filter((value) => value < 0).length).toBeGreaterThanOrEqual(2);
});
