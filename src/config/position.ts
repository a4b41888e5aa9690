// Where in a JSON file something stands, as `line:column` counted from one, the way editors do.
// Loaded work only: nobody needs a line before something is wrong.

export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

export type KeyPath = readonly (string | number)[];

/** Finds keys in a JSON text. For a path that leads nowhere, the nearest thing around it. */
export async function createLocator(text: string): Promise<(path: KeyPath) => string> {
  const { findNodeAtLocation, parseTree } = await import('jsonc-parser');
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (!tree) return () => '1:1';
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const value = findNodeAtLocation(tree, path.slice(0, length));
      // The property, not its value: the key is what the message names.
      const place = value?.parent?.type === 'property' ? value.parent : value;
      if (place) return lineAndColumn(text, place.offset);
    }
    return lineAndColumn(text, tree.offset);
  };
}
