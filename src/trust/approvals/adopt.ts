// Servers that were in use before there were approvals keep working: the catalog shows that they were started from
// this very file, with the same command.
import { join } from 'node:path';
import type { ChildConfig } from '../../config/config.ts';
import { Catalog } from '../../pool/catalog.ts';

/** A variable and nothing else: a default after `:-` would be a literal value. */
const REFERENCE = /^\$\{(?:env:)?[A-Za-z_]\w*\}$/;

/** `since`: when the first decision was recorded. */
export function wasUsedBefore(
  child: ChildConfig,
  home: string,
  since: string | undefined,
): boolean {
  const { command, remote, assistant, behind } = child;
  if (!command || remote || assistant || behind) return false;
  if (Object.values(command.env).some((value) => !REFERENCE.test(value))) return false;
  const catalog = new Catalog(join(home, 'cache', 'catalog'), () => {});
  if (!catalog.mayKnow(child)) return false;
  const { listedAt } = catalog.get(child);
  return listedAt !== undefined && (since === undefined || listedAt < since);
}
