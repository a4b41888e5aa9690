// Parses TOML. The parser is loaded with the first such file: most users have none.

export type ParsedToml = { readonly table: Readonly<Record<string, unknown>> } | TomlProblem;

interface TomlProblem {
  readonly line: number;
  readonly column: number;
  /** Doesn't quote the file, which may contain secrets. */
  readonly problem: string;
}

const MAX_DEPTH = 100;

export async function parseToml(text: string): Promise<ParsedToml> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    // Settings have no large integers, but the rest of the file may.
    return { table: parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_DEPTH }) };
  } catch (error) {
    if (error instanceof RangeError) {
      return { line: 1, column: 1, problem: 'Too deeply nested.' };
    }
    if (!(error instanceof TomlError)) throw error;
    // The other lines of the message quote the file.
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const { line, column } = error;
    return { line, column, problem: `Invalid TOML: ${reason.replace(/\.$/, '')}.` };
  }
}
