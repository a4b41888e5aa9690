// Resolves `toolChanges`. It protects the user, so a project can make it stricter than the user's own files do, but never
// less strict.
import { TOOL_CHANGES, type ToolChanges } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Layer, suiteOf } from '../files/layers.ts';
import { type Folders, isUsersFile } from '../files/places.ts';

/** For servers that have no key of their own. */
export function resolveToolChanges(layers: readonly Layer[], folders: Folders): ToolChanges {
  return strictest(
    layers.map(({ file, config }) => ({ file, value: config.toolChanges })),
    DEFAULTS.toolChanges,
    folders,
  );
}

/** `declared`: the key in the server's own entry. */
export function serverToolChanges(
  name: string,
  declared: { readonly origin: string; readonly value: ToolChanges | undefined },
  layers: readonly Layer[],
  folders: Folders,
): ToolChanges {
  const isSet =
    declared.value !== undefined ||
    layers.some(
      ({ config }) => (config.toolChanges ?? suiteOf(config, name).toolChanges) !== undefined,
    );
  if (!isSet) return DEFAULTS.toolChanges;
  const keys = [
    ...layers.map(({ file, config }) => ({ file, value: suiteOf(config, name).toolChanges })),
    { file: declared.origin, value: declared.value },
  ];
  return strictest(keys, resolveToolChanges(layers, folders), folders);
}

interface FoundKey {
  readonly file: string;
  readonly value: ToolChanges | undefined;
}

/** The user's value, or the strictest of the project's if that is stricter. */
function strictest(
  keys: readonly FoundKey[],
  otherwise: ToolChanges,
  folders: Folders,
): ToolChanges {
  const set = keys.filter(({ value }) => value !== undefined);
  const users = set.find(({ file }) => isUsersFile(file, folders))?.value ?? otherwise;
  const others = set
    .filter(({ file }) => !isUsersFile(file, folders))
    .flatMap(({ value }) => value ?? []);
  return [users, ...others].reduce((one, other) =>
    TOOL_CHANGES.indexOf(other) > TOOL_CHANGES.indexOf(one) ? other : one,
  );
}
