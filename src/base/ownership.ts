// Who can change a file: on a shared machine, nobody's files but the user's own and the system's are safe to use.
import { existsSync, type Stats } from 'node:fs';

const WORLD_WRITABLE = 0o002;

/** A sentence about why the file or folder can't be trusted to be the user's or the system's. */
export function ownershipProblem({ uid, mode }: Stats): string | undefined {
  if (process.getuid === undefined) return undefined; // Windows
  if (uid !== 0 && !isMine(uid)) return 'It belongs to another user.';
  return (mode & WORLD_WRITABLE) === 0 ? undefined : 'Every user can change it.';
}

/** Whether the user owns the file, and nobody outside their group can change it. */
export function isOwnFile({ uid, mode }: Stats): boolean {
  if (process.getuid === undefined) return true;
  return isMine(uid) && (mode & WORLD_WRITABLE) === 0;
}

/** Windows marks files from the internet. */
export function isMarkedAsDownload(file: string): boolean {
  return process.getuid === undefined && existsSync(`${file}:Zone.Identifier`);
}

function isMine(uid: number): boolean {
  const own = process.getuid?.();
  if (uid === own) return true;
  const { SUDO_UID: behind } = process.env;
  return own === 0 && behind !== undefined && Number(behind) === uid;
}
