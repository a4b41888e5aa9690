// Positions in a JSON file as `line:column`, counted from one as in editors.

export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

export type KeyPath = readonly (string | number)[];

/** Returns a function that finds the offset of a key, or of the nearest existing parent. */
export async function createLocator(text: string): Promise<(path: KeyPath) => number> {
  const { findNodeAtLocation, parseTree } = await import('jsonc-parser');
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (!tree) return () => 0;
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const value = findNodeAtLocation(tree, path.slice(0, length));
      // The property, not its value: the key is what the message names.
      const place = value?.parent?.type === 'property' ? value.parent : value;
      if (place) return place.offset;
    }
    return tree.offset;
  };
}
