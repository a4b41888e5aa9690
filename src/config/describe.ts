// The settled configuration as plain JSON, for people to look at and to paste into a report. Values
// of environment variables are secrets as often as not, so none of them is shown.
import type { ChildConfig, Config } from './config.ts';

export function describeConfig(config: Config): object {
  return { ...config, children: [...config.children.values()].map(describeChild) };
}

function describeChild(child: ChildConfig): object {
  const { command, problem } = child;
  return {
    ...child,
    command: command && {
      ...command,
      env: Object.fromEntries(Object.keys(command.env).map((name) => [name, '***'])),
    },
    problem: problem && { code: problem.code, message: problem.message, hint: problem.hint },
  };
}
