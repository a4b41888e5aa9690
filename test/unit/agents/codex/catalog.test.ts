// The list of models by which the engine's own tool for patches is switched on and off.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CatalogOptions, prepareCatalog } from '../../../../src/agents/codex/catalog.ts';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { eventually, isAlive } from '../../../support/processes.ts';
import { createProject } from '../../../support/project.ts';
import { SCRIPTED_CODEX } from '../../../support/scripted-engine.ts';

function wishes(said: Partial<CatalogOptions> = {}) {
  const project = createProject();
  const record = join(project.dir, 'record.jsonl');
  writeFileSync(record, '');
  const processes: number[] = [];
  const wish: CatalogOptions = {
    binary: SCRIPTED_CODEX,
    env: { ...project.env, SCRIPTED_CODEX_RECORD: record },
    folder: join(project.dir, 'cache'),
    usersCatalog: undefined,
    applyPatch: undefined,
    hasVerbosity: false,
    model: undefined,
    onProcess: (pid) => void processes.push(pid),
    ...said,
  };
  const starts = () => readFileSync(record, 'utf8').split('\n').filter(Boolean).length;
  return { project, wish, starts, processes };
}

function modelsIn(file: string | undefined) {
  if (file === undefined) throw new Error('There is no list.');
  const { models } = JSON.parse(readFileSync(file, 'utf8')) as {
    models: { slug: string; apply_patch_tool_type: string | null }[];
  };
  return Object.fromEntries(models.map((model) => [model.slug, model.apply_patch_tool_type]));
}

function entryIn(file: string | undefined, slug: string) {
  const { models } = JSON.parse(readFileSync(file ?? '', 'utf8')) as { models: { slug: string }[] };
  return models.find((model) => model.slug === slug);
}

test('without settings, nothing changes and the list is not read', async () => {
  const { wish, starts } = wishes();
  expect(await prepareCatalog(wish)).toEqual({ file: undefined, warning: undefined });
  expect(starts()).toBe(0);
});

test('off applies to every model, and the engine is asked for its list only once', async () => {
  const { wish, starts } = wishes({ applyPatch: false });
  const { file, warning } = await prepareCatalog(wish);
  expect(modelsIn(file)).toEqual({
    'code-mode': null,
    'known-model': null,
    'no-patch-model': null,
  });
  expect(warning).toBeUndefined();
  expect(await prepareCatalog(wish)).toEqual({ file, warning });
  expect(await prepareCatalog({ ...wish, applyPatch: true, model: 'known-model' })).toEqual({
    file: undefined,
    warning: undefined,
  });
  expect(starts()).toBe(1);
});

test('on needs its own list only if the model lacks it', async () => {
  const { wish } = wishes({ applyPatch: true });
  const known = await prepareCatalog({ ...wish, model: 'no-patch-model' });
  expect(known.warning).toBeUndefined();
  expect(modelsIn(known.file)).toMatchObject({ 'no-patch-model': 'freeform' });
  const unknown = await prepareCatalog({ ...wish, model: 'gpt-4o' });
  expect(unknown.warning).toBe('Codex does not know the model gpt-4o and uses defaults for it.');
  expect(modelsIn(unknown.file)).toMatchObject({ 'gpt-4o': 'freeform', 'known-model': 'freeform' });
  expect((await prepareCatalog(wish)).file).toBeUndefined();
});

test.each([
  [undefined, null],
  [false, null],
  [true, 'freeform'],
] as const)(
  'a model that the engine does not know is sent a verbosity where one is wished, with apply_patch %s',
  async (applyPatch, patch) => {
    const { wish } = wishes({ applyPatch, hasVerbosity: true, model: 'gpt-4o' });
    const { file, warning } = await prepareCatalog(wish);
    expect(warning).toContain('Codex does not know the model gpt-4o');
    expect(entryIn(file, 'gpt-4o')).toMatchObject({
      support_verbosity: true,
      apply_patch_tool_type: patch,
    });
    const without = await prepareCatalog({ ...wish, applyPatch: true, hasVerbosity: false });
    expect(entryIn(without.file, 'gpt-4o')).toMatchObject({ support_verbosity: false });
  },
);

test('a known model gets a verbosity as its list says, or a warning', async () => {
  const { wish, project } = wishes({ hasVerbosity: true });
  const models = [{ slug: 'talks', support_verbosity: true }, { slug: 'mute' }];
  const usersCatalog = project.write('models.json', { models });
  expect(await prepareCatalog({ ...wish, usersCatalog, model: 'talks' })).toEqual({
    file: undefined,
    warning: undefined,
  });
  expect(await prepareCatalog({ ...wish, usersCatalog, model: 'mute' })).toEqual({
    file: undefined,
    warning: 'Codex does not send model_verbosity to the model mute.',
  });
  const off = await prepareCatalog({ ...wish, usersCatalog, model: 'talks', applyPatch: false });
  expect(modelsIn(off.file)).toEqual({ talks: null, mute: null });
});

test('another version of the program has another list', async () => {
  const { wish, project } = wishes({ applyPatch: false });
  const binary = join(project.dir, 'codex.mjs');
  writeFileSync(binary, readFileSync(SCRIPTED_CODEX), { mode: 0o755 });
  const first = await prepareCatalog({ ...wish, binary });
  utimesSync(binary, 1, 1);
  const second = await prepareCatalog({ ...wish, binary });
  expect(second.file).not.toBe(first.file);
});

test('ours is based on the user’s own list', async () => {
  const { wish, project, starts } = wishes({ applyPatch: false });
  const models = [{ slug: 'mine', apply_patch_tool_type: 'freeform', other: 1 }];
  const usersCatalog = project.write('models.json', { models });
  const { file } = await prepareCatalog({ ...wish, usersCatalog });
  expect(modelsIn(file)).toEqual({ mine: null });
  expect(starts()).toBe(0);
});

test.each([
  ['a program that cannot say', { binary: '/bin/false' }],
  ['a list that is none', { usersCatalog: SCRIPTED_CODEX }],
  ['a place that cannot be written', { folder: '/dev/null/cache' }],
])('%s causes a warning and does not fail the run', async (_what, said) => {
  const { wish } = wishes({ applyPatch: false, ...said });
  const { file, warning } = await prepareCatalog(wish);
  expect(file).toBeUndefined();
  expect(warning).toMatch(/^apply_patch could not be turned off: .*\.$/);
});

test.each<[string, (file: string) => void]>([
  ['cut off', (file) => writeFileSync(file, '{"models":[')],
  ['emptied', (file) => writeFileSync(file, '{"models":[]}')],
  ['something else', (file) => writeFileSync(file, '[]')],
  [
    'a folder',
    (file) => {
      rmSync(file);
      mkdirSync(join(file, 'with-something'), { recursive: true });
    },
  ],
  [
    'a pipe',
    (file) => {
      rmSync(file);
      execFileSync('mkfifo', [file]);
    },
  ],
])('our own list that is %s is rebuilt', async (_what, damage) => {
  const { wish } = wishes({ applyPatch: false });
  const before = await prepareCatalog(wish);
  const models = modelsIn(before.file);
  for (const name of readdirSync(wish.folder)) damage(join(wish.folder, name));
  expect(await prepareCatalog(wish)).toEqual(before);
  expect(modelsIn(before.file)).toEqual(models);
  expect(await prepareCatalog({ ...wish, applyPatch: true, model: 'known-model' })).toEqual({
    file: undefined,
    warning: undefined,
  });
});

test('a list that is not a regular file does not block', async () => {
  const { wish, project } = wishes({ applyPatch: false });
  const usersCatalog = join(project.dir, 'pipe');
  execFileSync('mkfifo', [usersCatalog]);
  const { warning } = await prepareCatalog({ ...wish, usersCatalog });
  expect(warning).toBe(`apply_patch could not be turned off: ${usersCatalog}: Not a regular file.`);
});

test('cancelling stops the program that prints the list', async () => {
  const { wish, project, processes } = wishes({ applyPatch: false });
  const binary = join(project.dir, 'codex');
  writeFileSync(binary, '#!/bin/sh\nsleep 1000\n', { mode: 0o755 });
  const cancellation = new Cancellation();
  const preparing = prepareCatalog({ ...wish, binary, cancellation });
  expect(await eventually(() => processes.length === 1)).toBe(true);
  const reason = new Error('enough');
  cancellation.cancel(reason);
  await expect(preparing).rejects.toBe(reason);
  expect(await eventually(() => !processes.some(isAlive))).toBe(true);
});
