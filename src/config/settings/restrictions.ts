// Settings of a server that restrict it, across files: every `deny` counts, every `allow` must allow a tool, and
// `readOnly` can't be taken back. Within one file, `suites.<name>` takes precedence over the declaration.
import { type Layer, suiteOf } from '../files/layers.ts';
import type { SuiteKeys } from '../schema/schema.ts';
import type { Declaration } from '../server/command.ts';

type ExposeKeys = NonNullable<SuiteKeys['expose']>;

/** The `expose` of each file, highest precedence first. */
export function exposeIn(
  name: string,
  declaration: Declaration | undefined,
  layers: readonly Layer[],
): ExposeKeys[] {
  const own = declaration?.entry.expose;
  const isInLayer = layers.some(({ file }) => file === declaration?.origin);
  const ofLayers = layers.map(({ file, config }) => {
    const { expose } = suiteOf(config, name);
    return file === declaration?.origin ? { ...own, ...definedIn(expose) } : (expose ?? {});
  });
  return [...ofLayers, ...(own && !isInLayer ? [own] : [])].filter(
    ({ allow, deny }) => allow !== undefined || deny !== undefined,
  );
}

/** The file that sets `readOnly`, if the one with the highest precedence sets it to true. */
export function findReadOnly(
  name: string,
  declaration: Declaration | undefined,
  layers: readonly Layer[],
): string | undefined {
  for (const { file, config } of layers) {
    const { readOnly } = suiteOf(config, name);
    if (readOnly !== undefined) return readOnly ? file : undefined;
  }
  return declaration?.entry.readOnly ? declaration.origin : undefined;
}

export interface RestrictingFile {
  readonly file: string;
  readonly permissions?: unknown;
  /** The one for all servers. */
  readonly environment?: SuiteKeys['environment'];
  /** The servers' entries, and their keys under `suites`. */
  readonly keys: readonly (SuiteKeys & { readonly disabled?: boolean | undefined })[];
}

/** Whether there are permissions, read-only servers, or restrictions that a project can't undo. */
export function hasRestrictions(
  files: readonly RestrictingFile[],
  isUsersFile: (file: string) => boolean,
): boolean {
  return files.some(({ file, permissions, environment, keys }) => {
    if (permissions !== undefined || keys.some(({ readOnly }) => readOnly)) return true;
    return (environment === 'minimal' || keys.some(isRestricted)) && isUsersFile(file);
  });
}

function isRestricted(keys: RestrictingFile['keys'][number]): boolean {
  const { expose, show, disabled, environment } = keys;
  const { allow, deny } = expose ?? {};
  const isLimited = allow !== undefined || deny !== undefined || environment === 'minimal';
  return show === 'off' || disabled === true || isLimited;
}

/** A JavaScript file may set a key to undefined, which counts as leaving it out. */
function definedIn(expose: ExposeKeys | undefined): ExposeKeys {
  const { allow, deny } = expose ?? {};
  return { ...(allow !== undefined && { allow }), ...(deny !== undefined && { deny }) };
}
