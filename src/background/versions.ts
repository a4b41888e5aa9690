// Background processes of several versions can run at once. The newest accepts sessions; the others end with their
// last one.
import { join } from 'node:path';
import { isAlive, listFolder, processPlace, startTime } from '../base/process-table.ts';
import { type Meeting, readNote } from './meeting.ts';

const NOTE = /^background-(.+)\.json$/;

/** The version of a newer background process that runs for the same user. */
export async function newerVersion(meeting: Meeting, version: string): Promise<string | undefined> {
  for (const name of listFolder(meeting.folder)) {
    const [, other] = NOTE.exec(name) ?? [];
    if (other === undefined || compareVersions(other, version) <= 0) continue;
    const note = readNote({ ...meeting, noteFile: join(meeting.folder, name) });
    if (!note || note.place !== processPlace() || !isAlive(note.pid)) continue;
    if ((await startTime(note.pid)) === note.start) return other;
  }
  return undefined;
}

/** Above 0 if the first one is newer. A pre-release is older than its release. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map(parse);
  for (let part = 0; part < 3; part++) {
    const difference = (left?.numbers[part] ?? 0) - (right?.numbers[part] ?? 0);
    if (difference !== 0) return difference;
  }
  const [tag = '', otherTag = ''] = [left?.tag, right?.tag];
  if (tag === otherTag) return 0;
  if (tag === '' || otherTag === '') return tag === '' ? 1 : -1;
  return tag.localeCompare(otherTag, 'en', { numeric: true });
}

function parse(version: string): { readonly numbers: readonly number[]; readonly tag: string } {
  const [release = '', ...tag] = version.split('+')[0]?.split('-') ?? [];
  return { numbers: release.split('.').map((part) => Number(part) || 0), tag: tag.join('-') };
}
