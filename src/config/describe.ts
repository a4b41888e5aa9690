// The settled configuration as plain JSON, for people to look at and to paste into a report. Values
// of environment variables and headers are secrets as often as not, so none of them is shown.
import type { ChildConfig, Config } from './config.ts';

export function describeConfig(config: Config): object {
  const { homeFolder: _everybodyKnowsTheirs, lost: _warning, missing: _warnings, ...rest } = config;
  return { ...rest, children: [...config.children.values()].map(describeChild) };
}

function describeChild(child: ChildConfig): object {
  const { isCwdGiven: _followsFromTheFiles, ...shown } = child;
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

/** Some servers take their key as part of the address: as a password, or as a parameter. */
function hideSecretsIn(url: string): string {
  return url
    .replace(/^([a-z][\w+.-]*:\/\/)[^/?#]*@/i, '$1***@')
    .replaceAll(/([?&][^=&#]*=)[^&#]*/g, '$1***');
}

function hideValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, '***']));
}
