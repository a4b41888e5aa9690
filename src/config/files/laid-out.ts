// How a server's folder is known that was laid out for an assistant: its `.mcp.json` starts a wrapper,
// the wrapper is as some version of ours wrote it, and the server's own file is kept beside both. The name
// of a script alone says nothing: anybody may call his own so.
import { join } from 'node:path';
import { shortDigest } from '../../base/digest.ts';
import type { ChildFile } from '../schema/schema.ts';

/** What the end of a wrapper's name is; before it stands the server's name. */
export const WRAPPER_END = '-claude-wrapper.mjs';

/** The wrapper that a server's file starts; undefined if it starts something else. */
export function wrapperIn(file: unknown): string | undefined {
  const { command } = file as Partial<ChildFile>;
  const args = typeof command === 'object' ? command.args : undefined;
  const [script = '', ...more] = args ?? [];
  const isWrapper = more.length === 0 && /^[^/\\]+$/.test(script) && script.endsWith(WRAPPER_END);
  return isWrapper ? script : undefined;
}

/** Whether a wrapper is as some version of ours wrote it. */
export function isUntouched(script: string): boolean {
  const [, body = '', digest] =
    /^([^]*?)\/\/ This file as written: ([0-9a-f]{8})\r?\n$/.exec(script) ?? [];
  return digest !== undefined && digest === writtenDigest(body);
}

/** Version control may change line ends. */
export function writtenDigest(text: string): string {
  return shortDigest(text.replaceAll('\r\n', '\n'));
}

/** Where the child file of a server is kept, whose place in its folder an assistant has taken. */
export function originalFile(folder: string): string {
  return join(folder, 'original', '.mcp.json');
}
