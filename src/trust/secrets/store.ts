// The user's secrets: one file, `$SWITCHBOARD_HOME/secrets.json`, in which each value is encrypted. The key is in the
// operating system's keychain if the user asked for that, otherwise in a second file that only the user can read.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject, parseIfJson } from '../../base/object.ts';
import { codeOf } from '../../base/system-error.ts';
import { whileLocked } from '../../config/change/rewrite.ts';
import { type Keychain, openKeychain } from './keychain.ts';
import { createKey, isSealed, KEY_BYTES, openSealed, type Sealed, sealText } from './seal.ts';

export interface SecretStoreOptions {
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Such as `linux-x64`: decides which keychain is used. */
  readonly machine: string;
}

/** Where the key is. */
export type KeyPlace = 'file' | 'keychain';

export interface StoredSecret {
  readonly name: string;
  /** ISO 8601. */
  readonly changedAt: string;
}

export interface KeptSecret {
  readonly isNew: boolean;
  readonly keyPlace: KeyPlace;
  /** Why the key isn't in the keychain although it should be. */
  readonly keychainProblem: string | undefined;
}

type Entry = Sealed & { readonly changedAt: string };

interface StoreFile {
  readonly version: 1;
  readonly key:
    | { readonly place: 'file' }
    | { readonly place: 'keychain'; readonly account: string };
  readonly secrets: Readonly<Record<string, Entry>>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export class SecretStore {
  readonly file: string;
  readonly keyFile: string;
  readonly #options: SecretStoreOptions;
  readonly #keychain: Keychain | undefined;
  /** Those from the keychain, by account. Asking for one takes time, and may ask the user. */
  readonly #keys = new Map<string, Promise<Buffer>>();

  constructor(options: SecretStoreOptions) {
    this.#options = options;
    this.file = join(options.home, 'secrets.json');
    this.keyFile = join(options.home, 'secrets.key');
    this.#keychain = openKeychain({ ...options, folder: options.home });
  }

  /** Undefined if nothing was ever stored. */
  get keyPlace(): KeyPlace | undefined {
    return this.#read()?.key.place;
  }

  /** Names only, so it needs no key. */
  list(): StoredSecret[] {
    const { secrets = {} } = this.#read() ?? {};
    return Object.entries(secrets)
      .map(([name, { changedAt }]) => ({ name, changedAt }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Undefined if there is no secret with this name. */
  async get(name: string): Promise<string | undefined> {
    const stored = this.#read();
    const entry = stored && entryOf(stored, name);
    if (!stored || !entry) return undefined;
    const value = openSealed(entry, labelOf(name), await this.#key(stored.key));
    if (value !== undefined) return value;
    throw this.#unavailable(`The secret "${name}" can't be decrypted with the stored key`, {
      hint: `Set it again: switchboard secret set ${name}`,
    });
  }

  /** `place` moves the key; undefined leaves it. Without a usable keychain, the key stays in its file. */
  set(name: string, value: string, place?: KeyPlace): Promise<KeptSecret> {
    return this.#change(async (stored) => {
      const { key, keychainProblem } = await this.#settleKey(stored, place);
      const isNew = !stored || !entryOf(stored, name);
      const sealed = sealText(value, labelOf(name), await this.#key(key));
      const entry = { ...sealed, changedAt: new Date().toISOString() };
      this.#write({ version: 1, key, secrets: { ...stored?.secrets, [name]: entry } });
      // The other place is cleared only after the file no longer needs it.
      await this.#forgetOldKey(stored?.key, key);
      return { isNew, keyPlace: key.place, keychainProblem };
    });
  }

  /** Returns whether there was one. */
  remove(name: string): Promise<boolean> {
    return this.#change(async (stored) => {
      if (!stored || !entryOf(stored, name)) return false;
      const secrets = Object.fromEntries(
        Object.entries(stored.secrets).filter(([each]) => each !== name),
      );
      this.#write({ ...stored, secrets });
      return true;
    });
  }

  /** Encrypts other files with the same key; undefined if there is no store yet. */
  async sealer(): Promise<StoreSealer | undefined> {
    const stored = this.#read();
    if (!stored) return undefined;
    const key = await this.#key(stored.key);
    return {
      seal: (text, name) => sealText(text, name, key),
      open: (sealed, name) => (isSealed(sealed) ? openSealed(sealed, name, key) : undefined),
    };
  }

  #change<T>(work: (stored: StoreFile | undefined) => Promise<T>): Promise<T> {
    makeFolder(this.#options.home);
    return whileLocked(this.file, this.#options.home, () => work(this.#read()));
  }

  #read(): StoreFile | undefined {
    let text: string;
    try {
      text = readFileSync(this.file, 'utf8');
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw this.#unavailable(`Cannot read ${this.file}`, { cause });
    }
    const value = parseIfJson(text);
    if (isStoreFile(value)) return value;
    throw this.#unavailable(`${this.file} is damaged`, {
      hint: 'Restore it, or delete it and set your secrets again: switchboard secret set NAME',
    });
  }

  #write(stored: StoreFile): void {
    writeAtomically(this.file, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
  }

  /** Decides where the key is from now on, and puts it there. */
  async #settleKey(
    stored: StoreFile | undefined,
    place: KeyPlace | undefined,
  ): Promise<{ key: StoreFile['key']; keychainProblem: string | undefined }> {
    const current = stored?.key;
    const wanted = place ?? current?.place ?? 'file';
    if (current?.place === wanted) return { key: current, keychainProblem: undefined };
    const bytes = current ? await this.#key(current) : createKey();
    if (wanted === 'keychain') {
      const moved = await this.#putIntoKeychain(bytes);
      if (typeof moved === 'object') return { key: moved, keychainProblem: undefined };
      if (current) return { key: current, keychainProblem: moved };
      return { key: this.#putIntoFile(bytes), keychainProblem: moved };
    }
    return { key: this.#putIntoFile(bytes), keychainProblem: undefined };
  }

  #putIntoFile(bytes: Buffer): StoreFile['key'] {
    writeAtomically(this.keyFile, `${bytes.toString('base64')}\n`, { mode: 0o600 });
    return { place: 'file' };
  }

  /** Returns why it isn't possible, as a sentence without a full stop. */
  async #putIntoKeychain(bytes: Buffer): Promise<StoreFile['key'] | string> {
    if (!this.#keychain) return "Switchboard can't use a keychain on this system";
    const account = `secrets-${createKey().toString('hex').slice(0, 16)}`;
    const text = bytes.toString('base64');
    try {
      await this.#keychain.set(account, text);
      const kept = await this.#keychain.get(account);
      if (kept !== text) return `${this.#keychain.name} did not store the key`;
      return { place: 'keychain', account };
    } catch (error) {
      return `${this.#keychain.name} can't be used (${messageOf(error)})`;
    }
  }

  async #forgetOldKey(old: StoreFile['key'] | undefined, current: StoreFile['key']): Promise<void> {
    if (!old || old === current) return;
    if (old.place === 'file') rmSync(this.keyFile, { force: true });
    else await this.#keychain?.remove(old.account).catch(() => {}); // it encrypts nothing anymore
  }

  #key(key: StoreFile['key']): Promise<Buffer> {
    // Another program may have replaced the file, such as after the store was deleted.
    if (key.place === 'file') return this.#keyInFile();
    const { account } = key;
    const known = this.#keys.get(account);
    if (known) return known;
    const loading = this.#keyInKeychain(account);
    this.#keys.set(account, loading);
    loading.catch(() => this.#keys.delete(account)); // the user may unlock the keychain
    return loading;
  }

  async #keyInFile(): Promise<Buffer> {
    try {
      return this.#checkKey(readFileSync(this.keyFile, 'utf8'), this.keyFile);
    } catch (cause) {
      if (cause instanceof SwitchboardError) throw cause;
      throw this.#unavailable(`Cannot read the key to your secrets in ${this.keyFile}`, { cause });
    }
  }

  async #keyInKeychain(account: string): Promise<Buffer> {
    const { name = 'The keychain' } = this.#keychain ?? {};
    let text: string | undefined;
    try {
      text = await this.#keychain?.get(account);
    } catch (cause) {
      throw this.#unavailable(`Cannot get the key to your secrets from ${name}`, { cause });
    }
    if (text !== undefined) return this.#checkKey(text, name);
    throw this.#unavailable(`The key to your secrets is missing from ${name}`, {
      hint: `Unlock the keychain and try again. If the key is lost, delete ${this.file} and set your secrets again.`,
    });
  }

  #checkKey(text: string, where: string): Buffer {
    const key = Buffer.from(text.trim(), 'base64');
    if (key.length === KEY_BYTES) return key;
    throw this.#unavailable(`The key to your secrets in ${where} is damaged`, {
      hint: `Restore it, or delete ${this.file} and set your secrets again.`,
    });
  }

  #unavailable(
    problem: string,
    { hint, cause }: { hint?: string; cause?: unknown },
  ): SwitchboardError {
    const reason = cause === undefined ? '' : `: ${messageOf(cause)}`;
    return new SwitchboardError('SECRETS_UNAVAILABLE', `${problem}${reason}.`, {
      hint: hint ?? 'Fix this, then try again.',
      cause,
      data: { file: this.file },
    });
  }
}

/** Encrypts and decrypts with the store's key. */
export interface StoreSealer {
  seal(text: string, name: string): Sealed;
  /** Undefined if it can't be decrypted. */
  open(sealed: unknown, name: string): string | undefined;
}

/** Whether a secret may have this name. */
export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

function entryOf({ secrets }: StoreFile, name: string): Entry | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
}

function labelOf(name: string): string {
  return `secret:${name}`;
}

function isStoreFile(value: unknown): value is StoreFile {
  if (!isObject(value) || value['version'] !== 1) return false;
  const { key, secrets } = value;
  if (!isObject(key) || !isObject(secrets)) return false;
  const isPlaced =
    key['place'] === 'file' || (key['place'] === 'keychain' && typeof key['account'] === 'string');
  return (
    isPlaced &&
    Object.values(secrets).every(
      (entry) => isSealed(entry) && typeof (entry as Partial<Entry>).changedAt === 'string',
    )
  );
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
