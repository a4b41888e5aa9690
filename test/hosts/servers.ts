// The servers behind Switchboard.
import { join } from 'node:path';
import { FIXTURES } from '../support/project.ts';
import { type ServerEntry, testServer } from '../support/servers.ts';

export const KIT_PROGRAM = join(FIXTURES, 'eras/handshake-server.mjs');

/** Has a tool for nearly every check. Built on SDK v1, so it asks questions during a call. */
export const KIT: ServerEntry = { command: process.execPath, args: [KIT_PROGRAM] };

export const BOX = testServer('toolbox');

/** The same, but takes a second to start, as many servers do. */
export const SLOW_BOX = testServer('starts-slowly', '1000');

/** Its only tool, `look`, is marked read-only. */
export const READER = testServer(
  'lists',
  JSON.stringify([
    {
      name: 'look',
      description: 'Looks at what is there.',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    },
  ]),
);

/** The arguments for a suite to call a subtool. */
export function callOf(subtool: string, args: object = {}): object {
  return { action: 'call', subtool, args };
}
