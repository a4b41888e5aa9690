// Which file the engine is, among all the ways in which it can be installed.
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { locateCodex } from '../../../../src/agents/codex/locate.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { machineKind } from '../../../../src/base/process.ts';
import { createProject } from '../../../support/project.ts';

const PROGRAM = `node_modules/@openai/codex-${machineKind()}/vendor/some-kind/bin/codex`;

function machine() {
  const project = createProject({ 'project/package.json': {} });
  const program = (path: string): string => {
    const file = project.write(path, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  };
  /** The package for this machine, as npm installs it below a folder. */
  const install = (folder: string): string => {
    project.write(join(folder, PROGRAM, '../../../../package.json'), {});
    return program(join(folder, PROGRAM));
  };
  const bin = join(project.dir, 'bin');
  mkdirSync(bin);
  const locate = (codexBin?: string): string =>
    locateCodex({ codexBin, project: join(project.dir, 'project'), env: { PATH: bin } });
  return { project, program, install, bin, locate };
}

function failureOf(locate: () => string): SwitchboardError {
  try {
    locate();
  } catch (error) {
    if (error instanceof SwitchboardError) return error;
  }
  throw new Error('It was found.');
}

test('the configured program comes first, as a path or as a name', () => {
  const { program, install, locate } = machine();
  install('project');
  expect(locate(program('else/my-codex'))).toMatch(/else\/my-codex$/);
  const named = program('bin/my-codex');
  expect(locate('my-codex')).toBe(named);
});

test('a configured program that is missing is an error', () => {
  const { install, locate } = machine();
  install('project');
  expect(failureOf(() => locate('/nowhere/codex'))).toMatchObject({
    code: 'ENGINE_MISSING',
    message: 'SWITCHBOARD_CODEX_BIN is set to /nowhere/codex, which does not exist.',
  });
});

test('the project’s own package comes before the PATH', () => {
  const { program, install, locate } = machine();
  program('bin/codex');
  const own = install('project');
  expect(locate()).toBe(own);
});

test('finds the real program behind npm’s script on the PATH', () => {
  const { project, program, install, bin, locate } = machine();
  const script = program('global/node_modules/@openai/codex/bin/codex.js');
  project.write('global/node_modules/@openai/codex/package.json', {});
  symlinkSync(script, join(bin, 'codex'));
  expect(locate()).toBe(join(bin, 'codex'));
  const real = install('global');
  expect(locate()).toBe(real);
  expect(locate(join(bin, 'codex'))).toBe(real);
});

test('a program on the PATH that is not a script is the engine itself', () => {
  const { program, locate } = machine();
  const native = program('bin/codex');
  expect(locate()).toBe(native);
});

test('a missing engine is an error with an install hint', () => {
  const { locate } = machine();
  const { code, hint } = failureOf(() => locate());
  expect(code).toBe('ENGINE_MISSING');
  expect(hint).toContain('npm i -g @openai/codex');
  expect(hint).toContain('codex login');
});

test('a program that came with the project is never used, however it is found', () => {
  const { project, program, install, bin } = machine();
  const folder = join(project.dir, 'project');
  install('project');
  const isOurs = () => false;
  const own = program('bin/codex');
  const foreign = program('project/node_modules/.bin/codex');
  const env = { PATH: `${join(foreign, '..')}:${bin}` };
  expect(locateCodex({ codexBin: undefined, project: folder, env, isOurs })).toBe(own);
  expect(locateCodex({ codexBin: 'codex', project: folder, env, isOurs })).toBe(own);
  const named = () => locateCodex({ codexBin: foreign, project: folder, env, isOurs });
  expect(failureOf(named).text).toBe(
    `SWITCHBOARD_CODEX_BIN is set to ${foreign}, which came with the project's repository. Set it to an absolute path outside the project.`,
  );
});
