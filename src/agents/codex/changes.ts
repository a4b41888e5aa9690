// The files a patch changes, for the user who approves it: every file, with its real path.
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isObject } from '../../base/object.ts';
import { pathInside } from '../../base/paths.ts';
import { visible } from './visible.ts';

export interface FileChange {
  readonly path: string;
  readonly kind: 'add' | 'delete' | 'update';
  /** The new path, if the file moves. */
  readonly movedTo: string | undefined;
}

/** Undefined unless every change is understood. */
export function readChanges(value: unknown): readonly FileChange[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const changes = value.flatMap((change) =>
    isObject(change) ? (readChange(change['path'], change['kind']) ?? []) : [],
  );
  return changes.length === value.length ? changes : undefined;
}

/** The older form: by path. */
export function readChangesByPath(value: unknown): readonly FileChange[] | undefined {
  const entries = isObject(value) ? Object.entries(value) : [];
  return readChanges(entries.map(([path, kind]) => ({ path, kind })));
}

function readChange(path: unknown, kind: unknown): FileChange | undefined {
  const { type, move_path: movedTo = null } = isObject(kind) ? kind : {};
  if (typeof path !== 'string' || path === '') return undefined;
  if (type !== 'add' && type !== 'delete' && type !== 'update') return undefined;
  if (movedTo !== null && typeof movedTo !== 'string') return undefined;
  return { path, kind: type, movedTo: movedTo ?? undefined };
}

/** `add a.txt`. Paths outside the folder are absolute and marked. */
export function describeChange({ path, kind, movedTo }: FileChange, folder: string): string {
  const to = movedTo === undefined ? '' : ` and move it to ${describePlace(movedTo, folder)}`;
  return `${kind} ${describePlace(path, folder)}${to}`;
}

function describePlace(path: string, folder: string): string {
  const whole = resolve(folder, path);
  const real = realPlace(whole);
  const inside = pathInside(folder, whole);
  const isReallyInside = pathInside(realPlace(folder), real) !== undefined;
  if (inside !== undefined && isReallyInside) return visible(inside);
  const elsewhere = real === whole ? '' : `: ${visible(real)}`;
  return `${visible(whole)} (outside the folder${elsewhere})`;
}

/** Follows links, as far as the path exists. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPlace(above), basename(path));
  }
}
