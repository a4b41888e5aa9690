// Opens the user's secrets: the store, and everything else a server's configuration can refer to.
import { machineKind } from '../../base/process.ts';
import type { Folders } from '../../config/files/places.ts';
import { SecretLookup } from './lookup.ts';
import { SecretStore } from './store.ts';

export interface UserSecrets {
  readonly store: SecretStore;
  readonly lookup: SecretLookup;
}

export function openSecrets(folders: Folders, env: NodeJS.ProcessEnv): UserSecrets {
  const store = new SecretStore({ home: folders.home, env, machine: machineKind() });
  return { store, lookup: new SecretLookup({ folders, env, store }) };
}
