// What is kept of a sign-in: one file for each server, readable by its user alone, written whole or
// not at all. Everything in it belongs to one issuer and one resource and is sent to no other.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject } from '../../base/object.ts';
import { codeOf } from '../../base/system-error.ts';
import { writeWhole } from '../../base/whole-file.ts';

const VERSION = 1;

export interface StoredSignIn {
  readonly version: typeof VERSION;
  readonly serverUrl: string;
  /** What the tokens are for, as the server calls itself. */
  readonly resource: string;
  /** Who gave them. */
  readonly issuer: string;
  readonly client: StoredClient;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly scope?: string | undefined;
  /** Milliseconds since 1970; undefined if it was not said. */
  readonly expiresAt?: number | undefined;
}

/** How the issuer knows us, in its own words. */
export interface StoredClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly token_endpoint_auth_method?: string | undefined;
}

/** Nobody has signed in; what was kept cannot be used; or this was kept. */
export type Kept = StoredSignIn | 'nothing' | 'damaged';

/** The file for a server, by its address. */
export async function tokenFile(folder: string, serverUrl: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  const digest = createHash('sha256').update(canonicalUrl(serverUrl)).digest('hex');
  return join(folder, `${digest.slice(0, 32)}.json`);
}

/** An address without what makes no difference to the server. */
export function canonicalUrl(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.hash = '';
  return url.href;
}

export function readSignIn(file: string): Kept {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'nothing' : 'damaged';
  }
  try {
    const value: unknown = JSON.parse(text);
    return isSignIn(value) ? value : 'damaged';
  } catch {
    return 'damaged';
  }
}

/** Throws what the system says where it cannot be written; the old file is then still whole. */
export function writeSignIn(file: string, signIn: StoredSignIn): void {
  prepareFolder(dirname(file));
  writeWhole(file, `${JSON.stringify(signIn, null, 2)}\n`, { mode: 0o600 });
}

export function removeSignIn(file: string): void {
  rmSync(file, { force: true });
}

/** A folder for its user alone, also where somebody has made it before us. */
export function prepareFolder(folder: string): void {
  makeFolder(folder);
  chmodSync(folder, 0o700);
}

function isSignIn(value: unknown): value is StoredSignIn {
  if (!isObject(value) || value['version'] !== VERSION) return false;
  const { client } = value;
  const texts = ['serverUrl', 'resource', 'issuer', 'accessToken'];
  return (
    texts.every((key) => typeof value[key] === 'string') &&
    isTextOrNothing(value['refreshToken']) &&
    isTextOrNothing(value['scope']) &&
    (value['expiresAt'] === undefined || Number.isFinite(value['expiresAt'])) &&
    isObject(client) &&
    typeof client['client_id'] === 'string' &&
    isTextOrNothing(client['client_secret']) &&
    isTextOrNothing(client['token_endpoint_auth_method'])
  );
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
