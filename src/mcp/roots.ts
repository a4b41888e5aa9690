// Roots: the folders a host works on, which a server may ask for. If several hosts share a server, Switchboard answers
// with the project it serves, because the server would keep the folders of the first host it asked.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
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
