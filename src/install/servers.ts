// Servers as files list them: `{ "<alias>": { "command", "args" } }`, or the same under a key, as hosts
// write it. Read so that they can be compared and taken over, whatever else is in them.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { readJsonText, withoutByteOrderMark } from '../config/files/files.ts';
import { unwrapServers } from '../config/files/servers-file.ts';

export type ServerEntry = Readonly<Record<string, unknown>>;

export interface Servers {
  /** By alias. Some may be anything but servers. */
  readonly entries: ReadonlyMap<string, unknown>;
  /** The keys under which they stand. */
  readonly under: readonly string[];
}

/** `file` is for errors. */
export async function readServers(file: string, text: string): Promise<Servers> {
  const { servers, where } = unwrapServers(await readJsonText(file, withoutByteOrderMark(text)));
  if (isObject(servers)) return { entries: new Map(Object.entries(servers)), under: where };
  throw new SwitchboardError('CONFIG_INVALID', `${file}: expected an object with servers.`, {
    hint: 'Such as: { "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] } }',
  });
}

/** Where hosts keep their servers that do not call the key `mcpServers`: VS Code and Zed. */
const OTHER_KEYS = ['servers', 'context_servers'];

/** The servers in a file of another program, by alias; `file` is for errors. */
export async function readHostServers(
  file: string,
  text: string,
): Promise<ReadonlyMap<string, unknown>> {
  if (file.endsWith('.toml')) throw refusedToml(file);
  const { entries } = await readServers(file, text);
  const inner = OTHER_KEYS.map((key) => entries.get(key)).find(
    // A server may be called so as well.
    (value) => isObject(value) && !launchOf(value),
  );
  return isObject(inner) ? new Map(Object.entries(inner)) : entries;
}

function refusedToml(file: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', `${file}: Files in TOML are not taken over.`, {
    hint: 'Write its servers as JSON, under "mcpServers" in switchboard.config.json.',
  });
}

/** What is started or spoken to: the words of the command, or the address. */
export function launchOf(entry: ServerEntry): readonly string[] | undefined {
  const { command, args, url } = entry;
  const inner = isObject(command) ? command : { cmd: command, args };
  const program = inner['cmd'];
  if (typeof program === 'string') {
    const words: unknown = inner['args'] ?? args ?? [];
    return Array.isArray(words) ? [program, ...words.map(String)] : undefined;
  }
  return typeof url === 'string' && url !== '' ? [url] : undefined;
}

/** Whether this starts Switchboard or another gateway of its kind, which must not be put behind it. */
export function isGateway(launch: readonly string[], self: readonly string[]): boolean {
  const [program = '', ...args] = launch.map((word) => word.replaceAll('\\', '/'));
  const operand = args.find((word) => !word.startsWith('-')) ?? '';
  return (
    /(^|\/)switchboard(\.cmd|\.exe)?$/.test(program) ||
    /^switchboard(@.*)?$/.test(operand) ||
    /(^|\/)(switchboard\/dist\/(index\.js|switchboard)|mcpflip\/gateway\.js)$/.test(operand) ||
    launch[1] === self[1]
  );
}
