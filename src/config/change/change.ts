// Writes a server's settings to a main file, under `suites`, which takes precedence over every declaration. Chooses
// the file in which the change takes effect.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { pathInside } from '../../base/paths.ts';
import type { ChildConfig } from '../config.ts';
import { isScript, parseJsonc, withoutByteOrderMark } from '../files/files.ts';
import { type Layer, suiteOf } from '../files/layers.ts';
import type { Places } from '../files/places.ts';
import { checkConfigFile } from '../schema/check.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import { formatPath } from '../schema/wording.ts';
import { setKey } from './edit.ts';
import { revertKey } from './revert.ts';
import { type Rewritten, rewriteFile } from './rewrite.ts';

/** Keys of `suites.<name>` to change, with their new values. */
export type UseChange = Pick<SuiteKeys, 'show' | 'start' | 'idleMs' | 'assistant'>;

export interface ConfigChange extends Rewritten {
  readonly file: string;
}

export type Owner = 'project' | 'user';

/** If `where` is undefined, this chooses the file. */
export async function changeUse(
  child: ChildConfig,
  wanted: UseChange,
  places: Places,
  layers: readonly Layer[],
  where: Owner | undefined,
  { dryRun }: { readonly dryRun?: boolean } = {},
): Promise<ConfigChange> {
  const choice = where ?? chooseOwner(child, wanted, places, layers);
  const { project, home, projectFile, userFile } = places;
  const file =
    choice === 'project'
      ? (projectFile ?? join(project, 'switchboard.config.json'))
      : (userFile ?? join(home, 'switchboard.config.json'));
  if (isScript(file)) {
    const keys = JSON.stringify({ suites: Object.fromEntries([[child.name, wanted]]) });
    throw cannotRewriteScript(file, `Add this to its export: ${keys}`);
  }
  const edit = (text: string | undefined): Promise<string> =>
    text === undefined
      ? setKeys(newFile(choice, project), child.name, wanted)
      : changeText(file, text, child.name, wanted);
  const rewritten = await rewriteFile(file, edit, {
    home,
    // The user's file may contain secrets; a project's file is usually shared.
    mode: choice === 'user' ? 0o600 : 0o666,
    dryRun,
  });
  return { file, ...rewritten };
}

/**
 * Removes what `changeUse` wrote from every main file. A file that hasn't been changed since is restored byte for
 * byte.
 */
export async function revertUse(
  { name }: ChildConfig,
  wanted: UseChange,
  { home, project, projectFile }: Places,
  layers: readonly Layer[],
  { dryRun }: { readonly dryRun?: boolean } = {},
): Promise<ConfigChange[]> {
  const changes: ConfigChange[] = [];
  for (const key of Object.keys(wanted)) {
    for (const { file, config } of layers) {
      const keys: Readonly<Record<string, unknown>> = suiteOf(config, name);
      if (keys[key] === undefined) continue;
      const path = ['suites', name, key];
      if (isScript(file))
        throw cannotRewriteScript(file, `Remove ${formatPath(path)} from its export.`);
      const owner = file === projectFile ? 'project' : 'user';
      const rewritten = await revertKey(file, {
        path,
        set: (text) => setKeys(text ?? newFile(owner, project), name, wanted),
        home,
        dryRun,
      });
      changes.push({ file, ...rewritten });
    }
  }
  return changes;
}

/**
 * The file with the highest precedence that already sets one of the keys, because a change in any other would have no
 * effect; otherwise the one closest to the declaration, because other projects may not have that server.
 */
export function chooseOwner(
  { name, origin }: ChildConfig,
  wanted: UseChange,
  { project, home, projectFile, userFile }: Places,
  layers: readonly Layer[],
): Owner {
  const current = layers.find(({ config }) => {
    const keys: Readonly<Record<string, unknown>> = suiteOf(config, name);
    return Object.keys(wanted).some((key) => keys[key] !== undefined);
  });
  const nearest = current?.file ?? origin;
  if (nearest === projectFile) return 'project';
  if (nearest === userFile) return 'user';
  const isProjects =
    pathInside(project, nearest) !== undefined && pathInside(home, nearest) === undefined;
  return isProjects ? 'project' : 'user';
}

async function changeText(
  file: string,
  text: string,
  name: string,
  wanted: UseChange,
): Promise<string> {
  // It may have changed since it was loaded, and only valid files can be edited.
  const json = withoutByteOrderMark(text);
  const parsed = await parseJsonc(json);
  if ('problem' in parsed) {
    throw new SwitchboardError('CONFIG_INVALID', `${file}:${parsed.problem}`, {
      hint: 'Nothing was changed. Fix the file, then try again.',
    });
  }
  const { invalidSuites } = await checkConfigFile({ file, value: parsed.value, text: json });
  const invalid = invalidSuites.get(name);
  if (invalid) {
    throw new SwitchboardError('CONFIG_INVALID', invalid.join('\n'), {
      hint: 'Nothing was changed. Fix the file, then try again.',
    });
  }
  return setKeys(text, name, wanted);
}

async function setKeys(text: string, name: string, wanted: UseChange): Promise<string> {
  let changed = text;
  for (const [key, value] of Object.entries(wanted)) {
    changed = await setKey(changed, ['suites', name, key], value);
  }
  return changed;
}

const SCHEMA = './node_modules/switchboard/switchboard.config.schema.json';

/** With `$schema` for editors, if Switchboard is installed in the project. */
function newFile(owner: Owner, project: string): string {
  const hasSchema = owner === 'project' && existsSync(join(project, SCHEMA));
  return hasSchema ? `{\n  "$schema": "${SCHEMA}"\n}\n` : '{}\n';
}

function cannotRewriteScript(file: string, hint: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} is JavaScript, which Switchboard can't edit.`,
    { hint, data: { file } },
  );
}
