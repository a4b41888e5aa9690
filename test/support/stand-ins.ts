// Stand-ins for programs that can't run here: 1Password's `op`, the keyring's `secret-tool` and macOS's `security`. Each
// does what the real one does with the arguments that Switchboard uses, and notes the arguments it got.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';

export interface StandIns {
  /** For the PATH of the program under test. */
  readonly env: Record<string, string>;
  /** Adds a program. `source` is JavaScript; `note()` has already been called. */
  readonly add: (name: string, source: string) => void;
  /** Every command line so far, one per line. */
  readonly commands: () => string[];
  /** The content of the keyring: account → value. */
  readonly keyring: () => Record<string, string>;
}

const KEYRING = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const file = process.env.STAND_IN_KEYRING;
  const entries = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const save = () => writeFileSync(file, JSON.stringify(entries));
  const stdin = () => readFileSync(0, 'utf8');
  const args = process.argv.slice(2);
`;

const SECRET_TOOL = `${KEYRING}
  if (process.env.STAND_IN_LOCKED) {
    console.error('secret-tool: Cannot create an item in a locked collection');
    process.exit(1);
  }
  const account = args[args.indexOf('account') + 1];
  if (args[0] === 'store') { entries[account] = stdin(); save(); }
  else if (args[0] === 'clear') { delete entries[account]; save(); }
  else if (account in entries) process.stdout.write(entries[account]);
  else process.exit(1);
`;

const SECURITY = `${KEYRING}
  const run = (words) => {
    const value = (option) => words[words.indexOf(option) + 1];
    const account = value('-a');
    if (words[0] === 'add-generic-password') { entries[account] = value('-w'); save(); }
    else if (words[0] === 'delete-generic-password') { delete entries[account]; save(); }
    else if (account in entries) console.log(entries[account]);
    else { console.error('The specified item could not be found in the keychain.'); process.exit(44); }
  };
  if (args[0] === '-i') for (const line of stdin().trim().split('\\n')) run(line.split(' '));
  else run(args);
`;

const OP = `
  const [command, option, url] = process.argv.slice(2);
  if (command !== 'read' || option !== '--no-newline') process.exit(2);
  const items = JSON.parse(process.env.STAND_IN_VAULT ?? '{}');
  if (!(url in items)) {
    console.error('[ERROR] could not read secret "' + url + '": item not found');
    process.exit(1);
  }
  process.stdout.write(items[url]);
`;

/** `folder` gets the programs and what they store. */
export function createStandIns(folder: string): StandIns {
  const bin = join(folder, 'stand-ins');
  const log = join(folder, 'stand-in-commands');
  const keyringFile = join(folder, 'stand-in-keyring');
  mkdirSync(bin, { recursive: true });
  appendFileSync(log, '');
  const add = (name: string, source: string): void => {
    const file = join(bin, name);
    const note = `require('node:fs').appendFileSync(${JSON.stringify(log)}, JSON.stringify([${JSON.stringify(name)}, ...process.argv.slice(2)]) + '\\n');`;
    writeFileSync(file, `#!${process.execPath}\n${note}\n{${source}}\n`);
    chmodSync(file, 0o755);
  };
  add('op', OP);
  add('secret-tool', SECRET_TOOL);
  add('security', SECURITY);
  return {
    env: {
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      STAND_IN_KEYRING: keyringFile,
    },
    add,
    commands: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
    keyring: () =>
      existsSync(keyringFile)
        ? (JSON.parse(readFileSync(keyringFile, 'utf8')) as Record<string, string>)
        : {},
  };
}
