// Errors from the operating system, which the user can fix. Any other error is a bug.

/** Such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Such as `/home/ann/.switchboard: permission denied (EACCES)`. `fallback`: the path, for errors that don't name one. */
export function describeSystemError(error: NodeJS.ErrnoException, fallback: string): string {
  const { code = '', path = fallback, message } = error;
  const [, text = message] = /^[A-Z0-9]+: ([^,]+)/.exec(message) ?? [];
  return `${path}: ${text} (${code})`;
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
