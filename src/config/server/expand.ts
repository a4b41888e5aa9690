// Expands variables in commands and URLs. This happens when a server starts, not when the configuration is loaded: a
// missing variable then affects only that server, and values stay out of anything that prints the configuration.
import { SwitchboardError } from '../../base/errors.ts';
import type { ChildConfig, Command, OAuthSettings, Remote } from '../config.ts';

const REFERENCE =
  /\$\$\{|\$\{(?:(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?|((?:secret|cmd):[^}]*|op:\/\/[^}]*))\}/g;

/**
 * `${VAR}`, `${env:VAR}` and `${VAR:-default}`; `$${` is a plain `${`, any other `$` is itself. Secrets such as
 * `${secret:name}` must have been looked up: `env` then contains them under the reference.
 */
export function expandVariables(text: string, env: NodeJS.ProcessEnv): string {
  if (text.startsWith('op://') && Object.hasOwn(env, text)) return env[text] ?? text;
  return text.replace(REFERENCE, (reference, name?: string, fallback?: string, secret?: string) => {
    if (secret !== undefined) return env[reference] ?? notLookedUp(reference);
    if (name === undefined) return '${';
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (fallback !== undefined) return value || fallback;
    if (value !== undefined) return value;
    throw new SwitchboardError(
      'CHILD_NOT_CONFIGURED',
      `The environment variable ${name} is not set.`,
      {
        hint: hintFor(name),
        data: { variable: name, reference },
      },
    );
  });
}

function notLookedUp(reference: string): never {
  throw new SwitchboardError('CHILD_NOT_CONFIGURED', `${reference} can't be used here.`, {
    hint: "Secrets work in the servers of Switchboard's own configuration files.",
    data: { reference },
  });
}

/** The names of the variables a string refers to, and its references to secrets. */
export function variablesIn(text: string): string[] {
  if (text.startsWith('op://')) return [text];
  return [...text.matchAll(REFERENCE)].flatMap(([reference, name, , secret]) =>
    secret === undefined ? (name ?? []) : reference,
  );
}

/** A secret that has to be looked up before the server starts. */
export interface SecretReference {
  /** As written: `${secret:name}`, `${cmd:…}`, `${op://…}`, or a whole value `op://…`. */
  readonly reference: string;
  readonly kind: 'secret' | 'cmd' | 'op';
  /** The secret's name, the command line, or the `op://` URL. */
  readonly target: string;
  /** The key it is in. */
  readonly where: string;
}

/** All references to secrets in a server's strings. */
export function secretReferences(child: Expandable): SecretReference[] {
  return expandableStrings(child).flatMap(([where, text]): SecretReference[] => {
    if (text.startsWith('op://')) {
      // Elsewhere it is an ordinary argument or URL.
      const isValue = /^(?:env|headers|oauth)\./.test(where);
      return isValue ? [{ reference: text, kind: 'op', target: text, where }] : [];
    }
    return [...text.matchAll(REFERENCE)].flatMap(([reference, , , secret]) =>
      secret === undefined ? [] : parseSecret(reference, secret, where),
    );
  });
}

function parseSecret(reference: string, text: string, where: string): SecretReference {
  const [, kind, target = ''] = /^(secret|cmd):(.*)$/s.exec(text) ?? [];
  if (kind === undefined) return { reference, kind: 'op', target: text, where };
  return { reference, kind: kind === 'cmd' ? 'cmd' : 'secret', target, where };
}

type Expandable = Pick<ChildConfig, 'command' | 'remote'>;

/** The variables a server needs that have neither a value nor a default. */
export function unsetVariables(child: Expandable, env: NodeJS.ProcessEnv): string[] {
  const references = expandableStrings(child).flatMap(([, text]) =>
    Array.from(text.matchAll(REFERENCE)),
  );
  const unset = references.flatMap(([, name, fallback]) =>
    name === undefined || fallback !== undefined || Object.hasOwn(env, name) ? [] : name,
  );
  return [...new Set(unset)];
}

/** Placeholders that only the original host can expand, such as `${input:token}` in VS Code. */
const HOST_PLACEHOLDER = /(?<!\$)\$\{(?:input|command|config):[^}]*\}/;

/** The first such placeholder, and the key it is in. */
export function findHostPlaceholder(
  child: Expandable,
): { readonly key: string; readonly placeholder: string } | undefined {
  for (const [key, text] of expandableStrings(child)) {
    const [placeholder] = text.includes('${') ? (HOST_PLACEHOLDER.exec(text) ?? []) : [];
    if (placeholder !== undefined) return { key, placeholder };
  }
  return undefined;
}

/** The strings in which variables are expanded, each with its key. */
export function expandableStrings({ command, remote }: Expandable): [key: string, text: string][] {
  const within = (key: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, text]): [string, string] => [`${key}.${name}`, text]);
  const { clientId = '', clientSecret = '' } = remote?.oauth ?? {};
  return [
    ...(command
      ? [
          ['command', command.cmd] as [string, string],
          ...command.args.map((text, index): [string, string] => [`args[${index}]`, text]),
          ...within('env', command.env),
        ]
      : []),
    ...(remote
      ? [
          ['url', remote.url] as [string, string],
          ...within('headers', remote.headers),
          ...within('oauth', { clientId, clientSecret }),
        ]
      : []),
  ];
}

/** Escapes `${`, so that the string expands to itself. */
export function withoutVariables(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** The command with variables expanded. Throws if the server can't be started. */
export function expandCommand(child: ChildConfig, env: NodeJS.ProcessEnv): Command {
  if (child.problem) throw child.problem;
  const { name, origin, command } = child;
  if (!command) {
    throw new SwitchboardError('CHILD_NOT_CONFIGURED', `Server "${name}" has no "command".`, {
      hint: `Add "command" in ${origin}.`,
    });
  }
  const expand = expanderFor(child, env);
  return {
    cmd: expand(command.cmd, 'command'),
    args: command.args.map((arg, index) => expand(arg, `args[${index}]`)),
    env: expandValues(command.env, (value, key) => expand(value, `env.${key}`)),
  };
}

/** The remote with variables expanded. Throws if the server can't be reached. */
export function expandRemote(child: ChildConfig, env: NodeJS.ProcessEnv): Remote {
  if (child.problem) throw child.problem;
  const { name, origin, remote } = child;
  if (!remote) {
    throw new SwitchboardError('CHILD_NOT_CONFIGURED', `Server "${name}" has no "url".`, {
      hint: `Add "url" in ${origin}.`,
    });
  }
  const expand = expanderFor(child, env);
  return {
    type: remote.type,
    url: expand(remote.url, 'url'),
    headers: expandValues(remote.headers, (value, key) => expand(value, `headers.${key}`)),
    oauth: remote.oauth && expandOAuth(remote.oauth, expand),
  };
}

function expandOAuth(
  { clientId, clientSecret, ...others }: OAuthSettings,
  expand: (text: string, where: string) => string,
): OAuthSettings {
  return {
    ...others,
    clientId: clientId && expand(clientId, 'oauth.clientId'),
    clientSecret: clientSecret && expand(clientSecret, 'oauth.clientSecret'),
  };
}

/** `where` names the value in the error about an unset variable. */
export function expanderFor(
  { name, origin }: Pick<ChildConfig, 'name' | 'origin'>,
  env: NodeJS.ProcessEnv,
) {
  return (text: string, where: string): string => {
    try {
      return expandVariables(text, env);
    } catch (cause) {
      const { variable } = cause instanceof SwitchboardError ? cause.data : {};
      if (typeof variable !== 'string') throw cause;
      throw new SwitchboardError(
        'CHILD_NOT_CONFIGURED',
        `Server "${name}" needs the environment variable ${variable}, which is not set (${where} in ${origin}).`,
        { hint: hintFor(variable), cause, data: { child: name, file: origin, variable } },
      );
    }
  };
}

function expandValues(
  values: Readonly<Record<string, string>>,
  expand: (value: string, key: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, expand(value, key)]),
  );
}

function hintFor(variable: string): string {
  return `Set it in the environment the host starts Switchboard in, or use \${${variable}:-default}.`;
}
