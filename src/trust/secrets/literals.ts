// Finds secrets that are written out in configuration files: well-known tokens anywhere in a server's entry, and values
// whose name says that they are secret.
import { tokenKinds } from '../../base/tokens.ts';
import type { ChildConfig } from '../../config/config.ts';
import { isScript } from '../../config/files/files.ts';
import { expandableStrings } from '../../config/server/expand.ts';

export interface LiteralSecret {
  readonly server: string;
  readonly file: string;
  /** The key it is in, such as `env.API_KEY`. */
  readonly where: string;
  /** What it looks like, such as `GitHub token`; undefined if only its name says that it is secret. */
  readonly kind: string | undefined;
  /** Whether Switchboard can replace it: not in a JavaScript file, an argument or a URL. */
  readonly isMovable: boolean;
  /** Never to be shown. */
  readonly value: string;
}

/** The last part of names such as `API_KEY`, `dbPassword` and `X-Auth-Token`. */
const SECRET_NAMES = [
  /(?:^|[_.-])(?:token|secret|(?:api)?key|passw(?:or)?d|passphrase|pwd|credentials?|authorization|cookie|pat)$/i,
  /[a-z](?:Token|Secret|Key|Passw(?:or)?d|Passphrase|Credentials?)$/,
];
const PUBLIC_NAME = /public/i;

/** Paths, addresses and switches, which names such as `SSH_KEY` and `USE_TOKEN` also have. */
const ORDINARY =
  /^(?:[~/.]|[A-Za-z]:\\|[a-z][a-z0-9+.-]*:\/\/)|^(?:true|false|none|null|required|disabled|enabled)$/i;
const SHORTEST = 8;

export function findLiteralSecrets(children: Iterable<ChildConfig>): LiteralSecret[] {
  return [...children].flatMap((child) => {
    const { name: server, origin: file } = child;
    return expandableStrings(child).flatMap(([where, text]): LiteralSecret[] => {
      if (text.includes('${') || text.startsWith('op://')) return [];
      const [kind] = tokenKinds(text);
      const isValue = /^(?:env|headers)\.|^oauth\.clientSecret$/.test(where);
      if (kind === undefined && !(isValue && isNamedSecret(where, text))) return [];
      return [{ server, file, where, kind, isMovable: isValue && !isScript(file), value: text }];
    });
  });
}

function isNamedSecret(where: string, value: string): boolean {
  const name = where.slice(where.indexOf('.') + 1);
  if (value.length < SHORTEST || ORDINARY.test(value)) return false;
  return SECRET_NAMES.some((pattern) => pattern.test(name)) && !PUBLIC_NAME.test(name);
}
