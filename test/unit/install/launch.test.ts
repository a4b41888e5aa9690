import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assistantRuntime, launchCommand } from '../../../src/install/launch.ts';

test.each([
  ['built', '/opt/switchboard/dist/index.js', ['/n', '/opt/switchboard/dist/index.js']],
  [
    'by its other name',
    '/opt/switchboard/dist/switchboard',
    ['/n', '/opt/switchboard/dist/index.js'],
  ],
  ['from its sources', '/src/switchboard/src/index.ts', ['/n', '/src/switchboard/dist/index.js']],
  [
    "from npx's cache, which does not last",
    join('/home/me/.npm/_npx/0a1b/node_modules/switchboard/dist/index.js'),
    ['npx', '-y', 'switchboard'],
  ],
])('a host starts the program as it runs now: %s', (_how, program, command) => {
  expect(launchCommand(program, '/n')).toEqual(command);
});

test('assistants load the module next to the program', () => {
  expect(assistantRuntime('/opt/a b/dist/index.js')).toBe('file:///opt/a%20b/dist/assistant.js');
  expect(assistantRuntime('/opt/x/dist/switchboard')).toBe('file:///opt/x/dist/assistant.js');
  expect(assistantRuntime('/opt/x/src/index.ts')).toBe('file:///opt/x/dist/assistant.js');
});
