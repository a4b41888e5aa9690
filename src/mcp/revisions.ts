// The MCP revisions of the handshake era, newest first.

export const HANDSHAKE_REVISIONS = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const;

export type Revision = (typeof HANDSHAKE_REVISIONS)[number];

export const NEWEST_REVISION: Revision = HANDSHAKE_REVISIONS[0];

/** Assumed for servers that don't state a revision: they were written for the first release. */
export const ASSUMED_REVISION: Revision = '2024-11-05';

/** The only revision in which a host may send several messages as one JSON array. */
export const BATCH_REVISION: Revision = '2025-03-26';

export function isRevision(value: unknown): value is Revision {
  return HANDSHAKE_REVISIONS.some((revision) => revision === value);
}
