// The address of a child that is reached over the network, from the ways hosts have to write it.
import { SwitchboardError } from '../../base/errors.ts';
import type { Remote } from '../config.ts';
import type { Declaration } from './command.ts';

/** Hosts do not agree on capitals and hyphens, so those do not count. */
const TYPES = new Map<string, Remote['type']>([
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
  ['ws', 'ws'],
  ['websocket', 'ws'],
]);

/** Undefined for a child that is a program for us to start. */
export function resolveRemote(
  name: string,
  { entry, origin }: Declaration,
): Remote | SwitchboardError | undefined {
  const { url, type, headers = {}, oauth } = entry;
  if (url === undefined || entry.command !== undefined) return undefined;
  const known = type === undefined ? typeFromAddress(url) : TYPES.get(plainLetters(type));
  if (known === undefined) {
    return new SwitchboardError(
      'CHILD_NOT_CONFIGURED',
      `Server "${name}" has a url and the type "${type}", which do not go together.`,
      {
        hint: `In ${origin}, set "type" to "http", "sse" or "ws", or leave it out.`,
        data: { child: name, file: origin },
      },
    );
  }
  return { type: known, url, headers, oauth };
}

function plainLetters(type: string): string {
  return type.toLowerCase().replaceAll(/[-_ ]/g, '');
}

function typeFromAddress(url: string): Remote['type'] {
  return /^wss?:/i.test(url) ? 'ws' : 'http';
}
