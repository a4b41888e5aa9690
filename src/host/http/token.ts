// The token that HTTP hosts must send: generated once, readable only by this user, and shared by all programs with the
// same home.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { unfinishedName } from '../../base/atomic-file.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { codeOf } from '../../base/system-error.ts';

const TOKEN_BYTES = 32;
/** What may follow `Bearer` in a header. */
const TOKEN = /^[\w.~+/-]+=*$/;
const SHORTEST = 32;

export function httpTokenFile(home: string): string {
  return join(home, 'http-token');
}

/** Reads the token, or generates it. Programs that do so at the same time all get the same one. */
export function keptToken(home: string): string {
  const file = httpTokenFile(home);
  try {
    return readToken(file) ?? makeToken(file);
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SwitchboardError('CONFIG_INVALID', `Cannot store the HTTP token: ${reason}.`, {
      hint: 'Make the folder writable, or set SWITCHBOARD_HTTP_TOKEN.',
      cause,
    });
  }
}

/** A token the user chose, if it fits in a header and is hard to guess. */
export function checkToken(token: string): string {
  if (!TOKEN.test(token)) {
    throw invalidToken('contains invalid characters', 'Use letters and digits.');
  }
  if (token.length < SHORTEST) {
    throw invalidToken('is too short', `Use at least ${SHORTEST} characters.`);
  }
  return token;
}

function invalidToken(problem: string, rule: string): SwitchboardError {
  return new SwitchboardError('CONFIG_INVALID', `SWITCHBOARD_HTTP_TOKEN ${problem}.`, {
    hint: `${rule} To generate one, run: openssl rand -hex 32`,
  });
}

function readToken(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (text.length < SHORTEST || !TOKEN.test(text)) {
    throw new SwitchboardError('CONFIG_INVALID', `${file} does not contain a valid token.`, {
      hint: 'Delete it to generate a new one.',
    });
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return text;
}

/** Written next to its final path first, then moved there unless another program was faster. */
function makeToken(file: string): string {
  makeFolder(dirname(file));
  const unfinished = unfinishedName(file);
  try {
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    writeFileSync(unfinished, `${token}\n`, { flag: 'wx', mode: 0o600, flush: true });
    putInPlace(unfinished, file);
    return token;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const theirs = readToken(file);
    if (theirs === undefined) throw error;
    return theirs;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Fails with EEXIST if the file exists. */
function putInPlace(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    copyFileSync(unfinished, file, constants.COPYFILE_EXCL); // the disk has no hard links
  }
}
