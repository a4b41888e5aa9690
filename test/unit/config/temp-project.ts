// A project in a folder of its own, with a home folder beside it, gone when the test is over.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SwitchboardError } from '../../../src/base/errors.ts';
import type { Config } from '../../../src/config/config.ts';
import { type LoadConfigOptions, loadConfig } from '../../../src/config/load.ts';

export interface Project {
  readonly folder: string;
  readonly homeFolder: string;
  readonly write: (file: string, content: string | object) => string;
  readonly load: (options?: Partial<LoadConfigOptions>) => Promise<Config>;
  /** Code and text of the error that loading ends with. */
  readonly loadError: (options?: Partial<LoadConfigOptions>) => Promise<string>;
  /** What is wrong with each server, in one text; empty if nothing is. */
  readonly problems: () => Promise<string>;
  /** A text with `<project>` and `<home>` in the place of the folders. */
  readonly plain: (text: string) => string;
}

export function createProject(files: Record<string, string | object> = {}): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-config-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'project');
  const homeFolder = join(root, 'home');
  for (const each of [folder, homeFolder]) mkdirSync(each);

  const plain = (text: string) =>
    text.replaceAll(folder, '<project>').replaceAll(homeFolder, '<home>');
  const write = (file: string, content: string | object) => {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return path;
  };
  const load = ({ env, ...rest }: Partial<LoadConfigOptions> = {}) =>
    loadConfig({ cwd: folder, env: { HOME: homeFolder, ...env }, ...rest });
  const loadError = async (options?: Partial<LoadConfigOptions>) => {
    const outcome = await load(options).catch((error: SwitchboardError) => error);
    if (!('code' in outcome)) throw new Error('The configuration was loaded.');
    return plain(`${outcome.code}: ${outcome.text}`);
  };
  const problems = async () => {
    const { children } = await load();
    const texts = [...children.values()].flatMap(({ problem }) => problem?.text ?? []);
    return plain(texts.join('\n'));
  };
  for (const [file, content] of Object.entries(files)) write(file, content);
  return { folder, homeFolder, write, load, loadError, problems, plain };
}
