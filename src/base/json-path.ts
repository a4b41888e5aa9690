// The JSONPaths that `redact` understands, such as `$.apiKey`, `$.users[*].password` and `$..token`.

export interface PathStep {
  /** Also look further down. */
  readonly isDeep: boolean;
  /** A key or an index; undefined for `*`. */
  readonly key: string | undefined;
}

const STEP =
  /(?<dots>\.\.?)(?:(?<any>\*)|(?<name>[\w-]+))|\[(?:(?<all>\*)|(?<index>\d+)|'(?<single>[^']*)'|"(?<double>[^"]*)")\]/g;
const PATH = new RegExp(`^\\$(?:${STEP.source})+$`);

export function isJsonPath(text: string): boolean {
  return PATH.test(text);
}

/** The path must be valid. */
export function parseJsonPath(path: string): readonly PathStep[] {
  return Array.from(path.matchAll(STEP), ({ groups = {} }): PathStep => {
    const { dots, name, index, single, double } = groups;
    return { isDeep: dots === '..', key: name ?? index ?? single ?? double };
  });
}
