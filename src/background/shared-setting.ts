// Whether the configuration has `"shared": false`. Only the background process reads it properly, so this is for
// entries that would have to start one first: it would be told at once that nobody wants it.
import { readTextOrEmpty } from '../base/process-table.ts';
import { findPlaces, type PlaceOptions } from '../config/files/places.ts';

/** Perhaps commented out, or in a server's entry: then this session is served alone for nothing, and works. */
const OFF = /"shared"\s*:\s*false\b/;

/** Throws if the files can't be located. */
export function isSharingOff(options: PlaceOptions): boolean {
  const { projectFile, userFile } = findPlaces(options);
  return [projectFile, userFile].some(
    (file) => file !== undefined && OFF.test(readTextOrEmpty(file)),
  );
}
