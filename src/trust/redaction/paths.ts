// Finds the values at JSONPaths such as `$.apiKey`, `$.users[*].password` and `$..token`.
import { isObject } from '../../base/object.ts';

interface Step {
  /** Also look further down. */
  readonly isDeep: boolean;
  /** A key or an index; undefined for `*`. */
  readonly key: string | undefined;
}

const STEP =
  /(?<dots>\.\.?)(?:(?<any>\*)|(?<name>[\w-]+))|\[(?:(?<all>\*)|(?<index>\d+)|'(?<single>[^']*)'|"(?<double>[^"]*)")\]/g;

const parsed = new Map<string, readonly Step[]>();

/** All strings and numbers at or below these paths, as strings. Invalid paths are refused on loading. */
export function valuesAt(value: unknown, paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    stepsOf(path)
      .reduce<unknown[]>((found, step) => found.flatMap((each) => take(each, step)), [value])
      .flatMap(leavesOf),
  );
}

function stepsOf(path: string): readonly Step[] {
  const known = parsed.get(path);
  if (known) return known;
  const steps = Array.from(path.matchAll(STEP), ({ groups = {} }): Step => {
    const { dots, name, index, single, double } = groups;
    return { isDeep: dots === '..', key: name ?? index ?? single ?? double };
  });
  parsed.set(path, steps);
  return steps;
}

function take(value: unknown, { isDeep, key }: Step): unknown[] {
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
