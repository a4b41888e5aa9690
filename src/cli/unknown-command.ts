// Suggests what to run instead of an unknown command: a known synonym first, then the closest spelling.
import { nearest } from '../base/text.ts';

/** Command names people know from other programs. */
const ADVICE: Readonly<Record<string, string>> = {
  'add, new, register':
    'Add the server under "mcpServers" in switchboard.config.json, or import it from a host\'s file: switchboard import <file>',
  'list, ls, servers':
    'List servers with: switchboard show\nList their tools with: switchboard tools',
  'log, tail': 'Did you mean: switchboard logs',
  'ps, top, info, monitor': 'Did you mean: switchboard status',
  'start, up, server, daemon': 'Did you mean: switchboard serve',
  'down, kill, quit':
    'Did you mean: switchboard stop\nTurn a server off with: switchboard show <server> off',
  refresh: 'Did you mean: switchboard reload',
  'remove, rm, delete, disable, off':
    'Turn a server off with: switchboard show <server> off\nTo remove it, delete its entry from the file named by: switchboard show <server>',
  'enable, activate, on':
    'Turn a server on with: switchboard show <server> suite (or flip, or direct)',
  'init, setup, install':
    "Set up Claude Code with: switchboard skill install\nImport servers from a host's file with: switchboard import <file>",
  uninstall: 'Did you mean: switchboard skill uninstall',
  'test, check, health, ping, verify, diagnose, debug': 'Did you mean: switchboard doctor',
  'validate, lint': 'Did you mean: switchboard config check',
  'exec, invoke, use, tool': 'Did you mean: switchboard call',
  'inspect, describe, schema, find, search': 'Did you mean: switchboard tools',
  'auth, signin, sign-in, connect': 'Did you mean: switchboard login',
  'signout, sign-out, disconnect': 'Did you mean: switchboard logout',
  'ask, chat': 'Did you mean: switchboard assistant',
  version: 'Did you mean: switchboard --version',
  'config show, config get, config list, config cat': 'Did you mean: switchboard config print',
  'config validate, config test, config lint': 'Did you mean: switchboard config check',
};

/** `commands` are the valid choices for the last word. */
export function adviceFor(
  words: readonly string[],
  commands: readonly string[],
): string | undefined {
  const typed = words.join(' ').toLowerCase();
  const known = Object.entries(ADVICE).find(([names]) => names.split(', ').includes(typed));
  if (known) return known[1];
  const [near] = nearest(words.at(-1) ?? '', commands, 1);
  return near && `Did you mean: ${['switchboard', ...words.slice(0, -1), near].join(' ')}`;
}
