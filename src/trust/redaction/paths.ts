// Finds the values at JSONPaths.
import { type PathStep, parseJsonPath } from '../../base/json-path.ts';
import { isObject } from '../../base/object.ts';

const parsed = new Map<string, readonly PathStep[]>();

/** All strings and numbers at or below these paths, as strings. Invalid paths are refused on loading. */
export function valuesAt(value: unknown, paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    stepsOf(path)
      .reduce<unknown[]>((found, step) => found.flatMap((each) => take(each, step)), [value])
      .flatMap(leavesOf),
  );
}

function stepsOf(path: string): readonly PathStep[] {
  const known = parsed.get(path);
  if (known) return known;
  const steps = parseJsonPath(path);
  parsed.set(path, steps);
  return steps;
}

function take(value: unknown, { isDeep, key }: PathStep): unknown[] {
  const parents = isDeep ? everythingIn(value) : [value];
  return parents.flatMap((parent) => {
    const members = membersOf(parent);
    if (key === undefined) return Object.values(members);
    return Object.hasOwn(members, key) ? [members[key]] : [];
  });
}

/** Arrays are objects with indexes. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) return Object.fromEntries(value.entries());
  return isObject(value) ? value : {};
}

/** The value and everything in it. Without recursion, because arguments may be nested deeply. */
function everythingIn(value: unknown): unknown[] {
  const found = [value];
  for (let next = 0; next < found.length; next++) {
    for (const member of Object.values(membersOf(found[next]))) found.push(member);
  }
  return found;
}

function leavesOf(value: unknown): string[] {
  return everythingIn(value).flatMap((each) =>
    typeof each === 'string' || typeof each === 'number' ? String(each) : [],
  );
}
