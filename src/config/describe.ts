// The settled configuration as plain JSON, for people to look at and to paste into a report. Values
// of environment variables and headers are secrets as often as not, so none of them is shown.
import type { ChildConfig, Config } from './config.ts';

export function describeConfig(config: Config): object {
  return { ...config, children: [...config.children.values()].map(describeChild) };
}

function describeChild(child: ChildConfig): object {
  const { command, remote, problem } = child;
  return {
    ...child,
    command: command && { ...command, env: hideValues(command.env) },
    remote: remote && {
      ...remote,
      headers: hideValues(remote.headers),
      oauth: remote.oauth && { ...remote.oauth, clientSecret: remote.oauth.clientSecret && '***' },
    },
    problem: problem && { code: problem.code, message: problem.message, hint: problem.hint },
  };
}

function hideValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, '***']));
}
