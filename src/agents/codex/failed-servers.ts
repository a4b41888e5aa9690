// Finds the servers that failed to start. Codex names them in one sentence when it refuses a thread:
// `required MCP servers failed to initialize: one: No such file or directory; two: timed out`
import type { Mask } from '../../base/secrets.ts';
import { excerpt } from '../../base/text.ts';
import type { AttachedServer } from '../engine.ts';

export interface FailedServer {
  readonly server: AttachedServer;
  readonly reason: string;
}

const SENTENCE = 'required MCP servers failed to initialize: ';
const LONGEST_REASON = 300;

/** `servers` by their names in Codex. Empty for any other error. */
export function failedServers(
  message: string,
  servers: ReadonlyMap<string, AttachedServer>,
  mask: Mask,
): FailedServer[] {
  const at = message.indexOf(SENTENCE);
  if (at === -1) return [];
  const list = `; ${message.slice(at + SENTENCE.length)}`;
  const found = [...servers]
    .map(([name, server]) => ({
      server,
      begin: list.indexOf(`; ${name}: `),
      length: name.length + 4,
    }))
    .filter(({ begin }) => begin !== -1)
    .sort((a, b) => a.begin - b.begin);
  return found.map(({ server, begin, length }, index) => {
    const reason = list.slice(begin + length, found[index + 1]?.begin);
    return { server, reason: excerpt(reason, LONGEST_REASON, mask).replace(/\.$/, '') };
  });
}
