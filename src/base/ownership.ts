// Who can change a file: on a shared machine, nobody's files but the user's own and the system's are safe to use.
import type { Stats } from 'node:fs';

const WORLD_WRITABLE = 0o002;

export interface FileUser {
  /** Undefined on Windows, where files have no such owner. */
  readonly uid: number | undefined;
  /** `SUDO_UID`: the user who ran sudo. */
  readonly sudoUid: string | undefined;
}

export function currentUser(): FileUser {
  const { SUDO_UID: sudoUid } = process.env;
  return { uid: process.getuid?.(), sudoUid };
}

/** A sentence about why the file or folder can't be trusted to be the user's or the system's. */
export function ownershipProblem({ uid, mode }: Stats, user = currentUser()): string | undefined {
  if (user.uid === undefined) return undefined;
  if (uid !== 0 && !isMine(uid, user)) return 'It belongs to another user.';
  return (mode & WORLD_WRITABLE) === 0 ? undefined : 'It is writable by everyone.';
}

/** Whether the user owns the file, and nobody outside their group can change it. */
export function isOwnFile({ uid, mode }: Stats, user = currentUser()): boolean {
  if (user.uid === undefined) return true;
  return isMine(uid, user) && (mode & WORLD_WRITABLE) === 0;
}

/** Only root may act for another user: anyone can set the variable. */
function isMine(uid: number, { uid: own, sudoUid }: FileUser): boolean {
  return uid === own || (own === 0 && sudoUid !== undefined && Number(sudoUid) === uid);
}
