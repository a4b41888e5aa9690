// Recognizes a server's folder that was set up for an assistant: its `.mcp.json` starts a wrapper script, the script is
// unmodified since Switchboard wrote it, and the server's original file is kept next to it. The script's name alone
// proves nothing. Also reads the assistant's role, `CLAUDE.md`.
import { join } from 'node:path';
import { shortDigest } from '../../base/digest.ts';
import type { ChildFile } from '../schema/schema.ts';
import { withoutByteOrderMark } from './files.ts';
import type { Gate } from './gate.ts';

/** A wrapper is named `<server>-claude-wrapper.mjs`. */
export const WRAPPER_END = '-claude-wrapper.mjs';

/** The wrapper a server's file starts; undefined if it starts something else. */
export function wrapperIn(file: unknown): string | undefined {
  const { command } = file as Partial<ChildFile>;
  const args = typeof command === 'object' ? command.args : undefined;
  const [script = '', ...more] = args ?? [];
  const isWrapper = more.length === 0 && /^[^/\\]+$/.test(script) && script.endsWith(WRAPPER_END);
  return isWrapper ? script : undefined;
}

/** Whether a wrapper is unmodified since some version of Switchboard wrote it. */
export function isUntouched(script: string): boolean {
  const [, body = '', digest] =
    /^([^]*?)\/\/ This file as written: ([0-9a-f]{8})\r?\n$/.exec(script) ?? [];
  return digest !== undefined && digest === writtenDigest(body);
}

/** Ignores line endings, which version control may change. */
export function writtenDigest(text: string): string {
  return shortDigest(text.replaceAll('\r\n', '\n'));
}

/** Where a server's own child file is kept while an assistant replaces it. */
export function originalFile(folder: string): string {
  return join(folder, 'original', '.mcp.json');
}

/** Undefined if there is no `CLAUDE.md`, it can't be read, or it isn't approved. */
export async function readFolderRole(
  folder: string,
  name: string,
  gate: Gate,
  warn: (sentence: string) => void,
): Promise<string | undefined> {
  const file = join(folder, 'CLAUDE.md');
  const read = await gate.read(file);
  if ('text' in read) {
    const { text, origin } = read;
    const isUsed =
      !origin ||
      gate.decide({ kind: 'role', name, file, origin, content: () => ({ text }) }) === 'approved';
    return isUsed ? withoutByteOrderMark(text).trim() || undefined : undefined;
  }
  if (!read.isMissing) warn(`${file}: ${read.problem} The assistant runs without this role.`);
  return undefined;
}
