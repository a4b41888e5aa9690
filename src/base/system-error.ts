// What the operating system says when it refuses something. That is for the user to mend; any other
// error is a bug of ours.

/** Such as `ENOENT`; undefined for an error that has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
