// Reads servers from files: `{ "<alias>": { "command", "args" } }`, or the same under a key, as hosts write it. Entries
// aren't validated here.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { readJsonText, withoutByteOrderMark } from '../config/files/files.ts';
import { unwrapServers } from '../config/files/servers-file.ts';
import { isSelf } from '../config/server/self.ts';

export type RawEntry = Readonly<Record<string, unknown>>;

export interface RawServers {
  /** By alias. Values may not be servers. */
  readonly entries: ReadonlyMap<string, unknown>;
  /** The path to the servers in the file. */
  readonly under: readonly string[];
}

/** `file` is used in error messages. */
export async function readServers(file: string, text: string): Promise<RawServers> {
  const { servers, where } = unwrapServers(await readJsonText(file, withoutByteOrderMark(text)));
  if (isObject(servers)) return { entries: new Map(Object.entries(servers)), under: where };
  throw new SwitchboardError('CONFIG_INVALID', `${file}: expected an object with servers.`, {
    hint: 'For example: { "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] } }',
  });
}

/** VS Code and Zed don't use `mcpServers`. */
const OTHER_KEYS = ['servers', 'context_servers'];

/** The servers in another program's file, by alias. */
export async function readHostServers(
  file: string,
  text: string,
): Promise<ReadonlyMap<string, unknown>> {
  if (file.endsWith('.toml')) throw unsupportedToml(file);
  const { entries } = await readServers(file, text);
  const inner = OTHER_KEYS.map((key) => entries.get(key)).find(
    // A server may have that name.
    (value) => isObject(value) && !launchOf(value),
  );
  if (!isObject(inner)) return entries;
  const sandbox = entries.get('sandbox');
  return new Map(
    Object.entries(inner).map(([alias, entry]) => [alias, withSharedSandbox(entry, sandbox)]),
  );
}

/** VS Code has the settings of all sandboxes next to the servers. */
function withSharedSandbox(entry: unknown, sandbox: unknown): unknown {
  const isSandboxed = isObject(entry) && entry['sandboxEnabled'] === true;
  if (!isSandboxed || !isObject(sandbox) || entry['sandbox'] !== undefined) return entry;
  return { ...entry, sandbox };
}

function unsupportedToml(file: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_INVALID',
    `Cannot import ${file}: TOML files are not supported.`,
    {
      hint: 'Add its servers as JSON under "mcpServers" in switchboard.config.json.',
    },
  );
}

/** What identifies a server: its command and arguments, or its URL. */
export function launchOf(entry: RawEntry): readonly string[] | undefined {
  const { command, args, url } = entry;
  const inner = isObject(command) ? command : { cmd: command, args };
  const program = inner['cmd'];
  if (typeof program === 'string') {
    const words: unknown = inner['args'] ?? args ?? [];
    return Array.isArray(words) ? [program, ...words.map(String)] : undefined;
  }
  return typeof url === 'string' && url !== '' ? [url] : undefined;
}

/** Whether this starts Switchboard or a similar gateway, which must not run behind it. */
export function isGateway([cmd, ...args]: readonly string[], program: string): boolean {
  const isMcpflip = args.some((word) => /(^|[\\/])mcpflip[\\/]gateway\.js$/.test(word));
  return isMcpflip || isSelf({ key: '', cmd, args, cwd: undefined }, program);
}
