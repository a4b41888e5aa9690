// Reads TOML. What does is loaded with the first such file: most have none.

/** What stands in it, or where and why it cannot be read. */
export type ParsedToml = { readonly table: Readonly<Record<string, unknown>> } | TomlProblem;

interface TomlProblem {
  readonly line: number;
  readonly column: number;
  /** Without what stands in the file, which may be a secret. */
  readonly problem: string;
}

/** Deeper tables are no settings of anybody's. */
const DEEPEST = 100;

export async function parseToml(text: string): Promise<ParsedToml> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    // Numbers may have more digits than JavaScript keeps; settings only want to know that they are numbers.
    return { table: parse(text, { integersAsBigInt: 'asNeeded', maxDepth: DEEPEST }) };
  } catch (error) {
    if (error instanceof RangeError) {
      return { line: 1, column: 1, problem: 'Not used: it nests too deep.' };
    }
    if (!(error instanceof TomlError)) throw error;
    // Its further lines quote the file.
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const { line, column } = error;
    return { line, column, problem: `Not valid TOML: ${reason.replace(/\.$/, '')}.` };
  }
}
