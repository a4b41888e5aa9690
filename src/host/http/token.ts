// The token that hosts over HTTP must show: made once, kept for this user alone, the same for all
// programs that use the same home.
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
import { SwitchboardError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { codeOf } from '../../base/system-error.ts';
import { unfinishedName } from '../../base/whole-file.ts';

const TOKEN_BYTES = 32;
/** What may stand in a header behind `Bearer`. */
const TOKEN = /^[\w.~+/-]+=*$/;
const SHORTEST = 32;

export function tokenFile(home: string): string {
  return join(home, 'http-token');
}

/** Reads the token, or makes one. Of several programs that make one at once, all get the same. */
export function keptToken(home: string): string {
  const file = tokenFile(home);
  try {
    return readToken(file) ?? makeToken(file);
  } catch (cause) {
    if (cause instanceof SwitchboardError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SwitchboardError('CONFIG_INVALID', `The token for HTTP cannot be kept: ${reason}.`, {
      hint: 'Make that folder writable, or set SWITCHBOARD_HTTP_TOKEN.',
      cause,
    });
  }
}

/** A token of the user's own choice, if it can be sent in a header and is hard to guess. */
export function checkToken(token: string): string {
  if (!TOKEN.test(token)) {
    throw invalidToken(
      'contains characters that are not allowed in a token',
      'Use letters and digits.',
    );
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
    throw new SwitchboardError('CONFIG_INVALID', `${file} holds no token.`, {
      hint: 'Delete it: a new one is made then.',
    });
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return text;
}

/** Written whole beside its place, then put there unless somebody else was faster. */
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

/** Fails with EEXIST if there is a file already. */
function putInPlace(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    copyFileSync(unfinished, file, constants.COPYFILE_EXCL); // a disk without hard links
  }
}
