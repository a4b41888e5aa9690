import { expect, test } from 'vitest';
import type { ToolChanges } from '../../../src/config/config.ts';
import type { Layer } from '../../../src/config/files/layers.ts';
import {
  resolveToolChanges,
  serverToolChanges,
} from '../../../src/config/settings/tool-changes.ts';

const FOLDERS = { project: '/project', home: '/home/me/.switchboard', homeFolder: '/home/me' };
const PROJECT = '/project/switchboard.config.json';
const USER = '/home/me/.switchboard/config.json';

type Value = ToolChanges | undefined;

const layer = (file: string, config: Layer['config']): Layer => ({
  file,
  config,
  invalidServers: new Map(),
  invalidSuites: new Map(),
});

test.each<[project: Value, user: Value, expected: ToolChanges]>([
  [undefined, undefined, 'scan'],
  ['hold', undefined, 'hold'],
  ['off', undefined, 'scan'],
  [undefined, 'off', 'off'],
  ['scan', 'off', 'scan'],
  ['hold', 'off', 'hold'],
  ['off', 'hold', 'hold'],
  ['scan', 'hold', 'hold'],
])('a project that says %s under a user who says %s gets %s', (project, user, expected) => {
  const layers = [
    layer(PROJECT, project ? { toolChanges: project } : {}),
    layer(USER, user ? { toolChanges: user } : {}),
  ];
  expect(resolveToolChanges(layers, FOLDERS)).toBe(expected);
});

test.each<[origin: string, declared: Value, suites: [Value, Value], expected: ToolChanges]>([
  [PROJECT, 'off', [undefined, undefined], 'scan'],
  [PROJECT, 'hold', [undefined, undefined], 'hold'],
  [PROJECT, undefined, ['off', undefined], 'scan'],
  [PROJECT, undefined, [undefined, 'off'], 'off'],
  [PROJECT, 'hold', [undefined, 'off'], 'hold'],
  [USER, 'off', [undefined, undefined], 'off'],
  [USER, 'off', ['hold', undefined], 'hold'],
  [USER, 'hold', ['off', undefined], 'hold'],
])('a server of %s with %s and suites %j gets %s', (origin, value, [project, user], expected) => {
  const suites = (toolChanges: Value) => (toolChanges ? { suites: { mail: { toolChanges } } } : {});
  const layers = [layer(PROJECT, suites(project)), layer(USER, suites(user))];
  expect(serverToolChanges('mail', { origin, value }, layers, FOLDERS)).toBe(expected);
});

test("in the home folder, the project's files count as the user's", () => {
  const layers = [layer('/home/me/switchboard.config.json', { toolChanges: 'off' })];
  expect(resolveToolChanges(layers, { ...FOLDERS, project: '/home/me' })).toBe('off');
});
