// Saved sign-ins: one file per server, readable only by the user, written atomically, and encrypted if the user has a
// secret store. Everything in it belongs to one issuer and one resource and is never sent to another.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject, parseIfJson } from '../../base/object.ts';
import { codeOf } from '../../base/system-error.ts';

const VERSION = 1;
const SEALED_VERSION = 2;

/** Encrypts and decrypts sign-ins. */
export interface SignInSeal {
  seal(text: string, name: string): object;
  /** Undefined if it can't be decrypted. */
  open(sealed: unknown, name: string): string | undefined;
}

/** Undefined if sign-ins aren't encrypted. Rejects if the key isn't available. */
export type OpenSeal = () => Promise<SignInSeal | undefined>;

export interface StoredSignIn {
  readonly version: typeof VERSION;
  readonly serverUrl: string;
  /** The resource the tokens are for, as named by the server. */
  readonly resource: string;
  readonly issuer: string;
  readonly client: StoredClient;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly scope?: string | undefined;
  /** Milliseconds since 1970; undefined if unknown. */
  readonly expiresAt?: number | undefined;
}

/** Switchboard's registration with the issuer. */
export interface StoredClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

export type Kept = StoredSignIn | 'nothing' | 'damaged';

export async function signInFile(folder: string, serverUrl: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  const digest = createHash('sha256').update(canonicalUrl(serverUrl)).digest('hex');
  return join(folder, `${digest.slice(0, 32)}.json`);
}

/** Without the parts that the server never sees. */
export function canonicalUrl(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.hash = '';
  return url.href;
}

/** Rejects only if the sign-in is encrypted and the key isn't available. */
export async function readSignIn(file: string, openSeal?: OpenSeal): Promise<Kept> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'nothing' : 'damaged';
  }
  const value = parseIfJson(text);
  if (!isObject(value) || value['version'] !== SEALED_VERSION) {
    return isSignIn(value) ? value : 'damaged';
  }
  const opened = (await openSeal?.())?.open(value['sealed'], labelOf(file));
  const signIn = opened === undefined ? undefined : parseIfJson(opened);
  return isSignIn(signIn) ? signIn : 'damaged';
}

/** The encrypted file can't be used for another server. */
function labelOf(file: string): string {
  return `sign-in:${basename(file)}`;
}

/** Throws the system's error if it can't be written; the old file is then intact. */
export function writeSignIn(file: string, signIn: StoredSignIn, seal?: SignInSeal): void {
  prepareFolder(dirname(file));
  const content = seal
    ? { version: SEALED_VERSION, sealed: seal.seal(JSON.stringify(signIn), labelOf(file)) }
    : signIn;
  writeAtomically(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
}

export function removeSignIn(file: string): void {
  rmSync(file, { force: true });
}

/** A folder for this user only, even if it already exists. */
export function prepareFolder(folder: string): void {
  makeFolder(folder);
  chmodSync(folder, 0o700);
}

function isSignIn(value: unknown): value is StoredSignIn {
  if (!isObject(value) || value['version'] !== VERSION) return false;
  const { client } = value;
  const strings = ['serverUrl', 'resource', 'issuer', 'accessToken'];
  return (
    strings.every((key) => typeof value[key] === 'string') &&
    isOptionalString(value['refreshToken']) &&
    isOptionalString(value['scope']) &&
    (value['expiresAt'] === undefined || Number.isFinite(value['expiresAt'])) &&
    isObject(client) &&
    typeof client['client_id'] === 'string' &&
    isOptionalString(client['client_secret']) &&
    isOptionalString(client['token_endpoint_auth_method'])
  );
}

function isOptionalString(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
