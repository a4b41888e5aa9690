// The resolved configuration as plain JSON, for `config print` and bug reports. Values of environment variables and
// headers are often secrets, so all of them are masked.
import type { ChildConfig, Config } from './config.ts';

export function describeConfig(config: Config): object {
  const { homeFolder: _homeFolder, lost: _lost, missing: _missing, gate: _gate, ...more } = config;
  const { soughtIn: _soughtIn, broken: _broken, ...rest } = more;
  return { ...rest, children: [...config.children.values()].map(describeChild) };
}

function describeChild(child: ChildConfig): object {
  const { isCwdGiven: _isCwdGiven, isUsers: _isUsers, ...shown } = child;
  const { command, remote, problem, behind } = child;
  return {
    ...shown,
    command: command && { ...command, env: hideValues(command.env) },
    remote: remote && {
      ...remote,
      url: hideSecretsIn(remote.url),
      headers: hideValues(remote.headers),
      oauth: remote.oauth && { ...remote.oauth, clientSecret: remote.oauth.clientSecret && '***' },
    },
    behind: behind && describeChild(behind),
    problem: problem && { code: problem.code, message: problem.message, hint: problem.hint },
  };
}

/** Some servers take their key in the URL, as a password or a query parameter. */
function hideSecretsIn(url: string): string {
  return url
    .replace(/^([a-z][\w+.-]*:\/\/)[^/?#]*@/i, '$1***@')
    .replaceAll(/([?&][^=&#]*=)[^&#]*/g, '$1***');
}

function hideValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, '***']));
}
