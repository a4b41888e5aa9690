// Resolves a remote server's URL and transport from the spellings hosts use.
import { SwitchboardError } from '../../base/errors.ts';
import type { Remote } from '../config.ts';
import type { Declaration } from './command.ts';

/** Case and hyphens are ignored: hosts spell these differently. */
const TYPES = new Map<string, Remote['type']>([
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
  ['ws', 'ws'],
  ['websocket', 'ws'],
]);

/** Undefined for a local server. */
export function resolveRemote(
  name: string,
  { entry, origin }: Declaration,
): Remote | SwitchboardError | undefined {
  const { url, type, headers = {}, oauth } = entry;
  if (url === undefined || entry.command !== undefined) return undefined;
  const known = type === undefined ? typeFromUrl(url) : TYPES.get(plainLetters(type));
  if (known === undefined) {
    return new SwitchboardError(
      'CHILD_NOT_CONFIGURED',
      `Server "${name}" has a "url", but its type "${type}" is not supported for remote servers.`,
      {
        hint: `Set "type" to "http", "sse" or "ws" in ${origin}, or remove it.`,
        data: { child: name, file: origin },
      },
    );
  }
  return { type: known, url, headers, oauth };
}

function plainLetters(type: string): string {
  return type.toLowerCase().replaceAll(/[-_ ]/g, '');
}

function typeFromUrl(url: string): Remote['type'] {
  return /^wss?:/i.test(url) ? 'ws' : 'http';
}
