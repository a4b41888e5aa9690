// Writes how one child is used into a main file, under `suites`, where it is stronger than any
// declaration. Which file that is depends on where it takes effect.
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import type { ChildConfig } from '../config.ts';
import { isScript, parseJson, withoutByteOrderMark } from '../files/files.ts';
import { type Layer, suiteOf } from '../files/layers.ts';
import type { Places } from '../files/places.ts';
import { checkConfigFile } from '../schema/check.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import { formatPath } from '../schema/wording.ts';
import { setKey } from './edit.ts';
import { type Rewritten, rewriteFile } from './rewrite.ts';
import { takeBack } from './take-back.ts';

/** The keys of `suites.<name>` that can be changed so, with their new values. */
export type Wanted = Pick<SuiteKeys, 'show' | 'start' | 'idleMs' | 'assistant'>;

export interface Change extends Rewritten {
  readonly file: string;
}

export type Owner = 'project' | 'user';

/** `where` is whose file it shall be; undefined for the one that suits. */
export async function changeUse(
  child: ChildConfig,
  wanted: Wanted,
  places: Places,
  layers: readonly Layer[],
  where: Owner | undefined,
  { dryRun }: { readonly dryRun?: boolean } = {},
): Promise<Change> {
  const choice = where ?? chooseOwner(child, wanted, places, layers);
  const { project, home, projectFile, userFile } = places;
  const file =
    choice === 'project'
      ? (projectFile ?? join(project, 'switchboard.config.json'))
      : (userFile ?? join(home, 'switchboard.config.json'));
  if (isScript(file)) {
    const keys = JSON.stringify({ suites: Object.fromEntries([[child.name, wanted]]) });
    throw isProgram(file, `Add to what it exports: ${keys}`);
  }
  const edit = (text: string | undefined): Promise<string> =>
    text === undefined
      ? setKeys(beginning(choice, project), child.name, wanted)
      : changeText(file, text, child.name, wanted);
  const rewritten = await rewriteFile(file, edit, {
    home,
    // The user's own file may come to hold secrets; a project's file is the project's to show.
    mode: choice === 'user' ? 0o600 : 0o666,
    dryRun,
  });
  return { file, ...rewritten };
}

/**
 * Takes what `changeUse` wrote out of every main file that says it. A file that nobody has changed
 * since becomes what it was before, byte for byte.
 */
export async function withdrawUse(
  { name }: ChildConfig,
  wanted: Wanted,
  { home, project, projectFile }: Places,
  layers: readonly Layer[],
  { dryRun }: { readonly dryRun?: boolean } = {},
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const key of Object.keys(wanted)) {
    for (const { file, config } of layers) {
      const said: Readonly<Record<string, unknown>> = suiteOf(config, name);
      if (said[key] === undefined) continue;
      const path = ['suites', name, key];
      if (isScript(file)) throw isProgram(file, `Take ${formatPath(path)} out of what it exports.`);
      const owner = file === projectFile ? 'project' : 'user';
      const rewritten = await takeBack(file, {
        path,
        set: (text) => setKeys(text ?? beginning(owner, project), name, wanted),
        home,
        dryRun,
      });
      changes.push({ file, ...rewritten });
    }
  }
  return changes;
}

/**
 * The strongest file that says something about it already, since what a weaker one says would have
 * no effect; else the one that is nearest to the declaration, since in another project nobody may
 * know that child.
 */
export function chooseOwner(
  { name, origin }: ChildConfig,
  wanted: Wanted,
  { project, home, projectFile, userFile }: Places,
  layers: readonly Layer[],
): Owner {
  const speaks = layers.find(({ config }) => {
    const said: Readonly<Record<string, unknown>> = suiteOf(config, name);
    return Object.keys(wanted).some((key) => said[key] !== undefined);
  });
  const nearest = speaks?.file ?? origin;
  if (nearest === projectFile) return 'project';
  if (nearest === userFile) return 'user';
  return isInside(nearest, project) && !isInside(nearest, home) ? 'project' : 'user';
}

function isInside(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return !path.startsWith('..') && !isAbsolute(path);
}

async function changeText(
  file: string,
  text: string,
  name: string,
  wanted: Wanted,
): Promise<string> {
  // Read a moment ago, but it may have changed since, and only what is right can be changed.
  const json = withoutByteOrderMark(text);
  const parsed = await parseJson(json);
  if ('problem' in parsed) {
    throw new SwitchboardError('CONFIG_INVALID', `${file}:${parsed.problem}`, {
      hint: 'Fix it first; nothing was changed.',
    });
  }
  const { invalidSuites } = await checkConfigFile({ file, value: parsed.value, text: json });
  const invalid = invalidSuites.get(name);
  if (invalid) {
    throw new SwitchboardError('CONFIG_INVALID', invalid.join('\n'), {
      hint: 'Fix it first; nothing was changed.',
    });
  }
  return setKeys(text, name, wanted);
}

async function setKeys(text: string, name: string, wanted: Wanted): Promise<string> {
  let changed = text;
  for (const [key, value] of Object.entries(wanted)) {
    changed = await setKey(changed, ['suites', name, key], value);
  }
  return changed;
}

const SCHEMA = './node_modules/switchboard/switchboard.config.schema.json';

/** A new file. Where Switchboard is installed in the project, editors can help with its keys. */
function beginning(owner: Owner, project: string): string {
  const hasSchema = owner === 'project' && existsSync(join(project, SCHEMA));
  return hasSchema ? `{\n  "$schema": "${SCHEMA}"\n}\n` : '{}\n';
}

function isProgram(file: string, hint: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} is a program, which Switchboard does not rewrite.`,
    { hint, data: { file } },
  );
}
