// Encrypts small texts with AES-256-GCM. The name a text is stored under is authenticated, so that entries can't be
// swapped.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isObject } from '../../base/object.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
export const KEY_BYTES = 32;

/** All in base64. */
export interface Sealed {
  readonly nonce: string;
  readonly data: string;
  readonly tag: string;
}

export function isSealed(value: unknown): value is Sealed {
  return isObject(value) && ['nonce', 'data', 'tag'].every((key) => typeof value[key] === 'string');
}

export function sealText(text: string, name: string, key: Uint8Array): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(name));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return {
    nonce: nonce.toString('base64'),
    data: data.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  };
}

/** Undefined if it was changed, or sealed with another key or name. */
export function openSealed(sealed: Sealed, name: string, key: Uint8Array): string | undefined {
  try {
    const [nonce, data, tag] = [sealed.nonce, sealed.data, sealed.tag].map((text) =>
      Buffer.from(text, 'base64'),
    ) as [Buffer, Buffer, Buffer];
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(name)).setAuthTag(tag);
    return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

export function createKey(): Buffer {
  return randomBytes(KEY_BYTES);
}
