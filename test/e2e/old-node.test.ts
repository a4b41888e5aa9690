// A Node that is too old prints one sentence. It has to be able to parse the program's first file,
// and that file must not use anything newer before it has looked at the version.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { PROGRAM, ROOT } from '../support/project.ts';

const ALIAS = join(ROOT, 'dist/switchboard');

test.each([PROGRAM, ALIAS])('%s has no syntax newer than ES5', async (file) => {
  const text = readFileSync(file, 'utf8');
  // Newer syntax either can't be turned into ES5, or comes out different.
  const [older, same] = await Promise.all([
    transform(text, { target: 'es5' }),
    transform(text, { target: 'esnext' }),
  ]);
  expect(older.code).toBe(same.code);
  expect(text).not.toMatch(/\b(?:import|export)[ ({*]/);
});

test('every version of Node treats it as CommonJS', () => {
  const { type } = JSON.parse(readFileSync(join(ROOT, 'dist/package.json'), 'utf8')) as {
    type: string;
  };
  expect(type).toBe('commonjs');
});

class Exit extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`exit ${status}`);
    this.status = status;
  }
}

/** Runs the first file as this version of Node would, up to where it exits or loads the program. */
function runAs(version: string, process: object) {
  const required: string[] = [];
  let said = '';
  const require = (name: string) => {
    required.push(name);
    return {
      writeSync: (_descriptor: number, text: string) => {
        said += text;
      },
    };
  };
  const fake = {
    versions: { node: version },
    execPath: '/usr/bin/node',
    argv: ['/usr/bin/node', '/dist/index.js'],
    env: {},
    exit: (status: number) => {
      throw new Exit(status);
    },
    ...process,
  };
  const text = readFileSync(PROGRAM, 'utf8').replace(/^#!.*\n/, '');
  const run = compileFunction(text, ['module', 'require', '__dirname', 'process']);
  try {
    run({ exports: {} }, require, '/dist', fake);
    return { status: undefined, said, required };
  } catch (error) {
    return { status: error instanceof Exit ? error.status : String(error), said, required };
  }
}

describe('Node', () => {
  const getBuiltinModule = (name: string) => {
    throw new Error(`loads ${name}`);
  };

  test.each([
    ['0.12.18', {}],
    ['6.17.1', {}],
    ['18.20.8', {}],
    ['20.9.0', {}],
    ['20.18.3', { getBuiltinModule }],
    ['21.7.3', {}],
    ['22.2.0', {}],
  ])('%s is refused with a message', (version, process) => {
    expect(runAs(version, process)).toEqual({
      status: 2,
      said: `switchboard: Node.js 20.19, 22.3 or later is required. This is ${version} (/usr/bin/node).
Install a newer version from https://nodejs.org, or use its full path as the command.
`,
      required: ['fs'],
    });
  });

  test.each(['20.19.0', '20.20.2', '22.3.0', '24.0.0', '100.0.0'])('%s is accepted', (version) => {
    expect(runAs(version, { getBuiltinModule })).toEqual({
      status: 'Error: loads fs',
      said: '',
      required: [],
    });
  });
});
