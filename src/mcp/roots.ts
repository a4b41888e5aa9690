// Roots: the folders a host works on, which a server may ask for. Switchboard answers with the project it serves if
// the host has no roots, or if hosts share the server: it would keep the folders of the one it asked first.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../base/object.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export interface Roots {
  /** The answer that names the project. */
  readonly project: Verbatim;
  /** Several hosts share the servers. */
  readonly isShared: boolean;
}

export function projectRoots(folder: string): Verbatim {
  const { href } = pathToFileURL(folder);
  return Verbatim.of({ roots: [{ uri: href, name: basename(folder) || folder }] });
}

/** Whether to answer with the project instead of asking a host with these capabilities. */
export function isProjectMeant(
  { isShared }: Roots,
  capabilities: Readonly<Record<string, unknown>>,
): boolean {
  return isShared || !isObject(capabilities['roots']);
}
