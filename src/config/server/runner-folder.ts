// Keeps package runners out of projects that came with a repository. In such a folder, `npx -y name` runs
// `node_modules/.bin/name` instead of the package, obeys the project's `.npmrc`, and puts the project's programs first on
// the PATH of the server, even with `--prefix`; `python -m name` prefers `name.py`. So runners of the user's servers start
// in the home directory, unless the user asked for the project with `cwd`, or a shell starts them in it, and the user
// approves that. Loaded only if a server needs it.
import { SwitchboardError } from '../../base/errors.ts';
import { pathInside } from '../../base/paths.ts';
import type { ChildConfig, Command } from '../config.ts';
import type { Gate } from '../files/gate.ts';
import type { Folders } from '../files/places.ts';
import { neutralFolder, withAbsolutePaths } from './cwd.ts';
import { localRunnerOf, wrappedRunnerOf } from './runners.ts';

interface RunnerSources extends Folders {
  readonly gate: Gate;
}

/** The server as it may run in this project. */
export async function keepOut(child: ChildConfig, sources: RunnerSources): Promise<ChildConfig> {
  const { name, origin, command, cwd, isCwdGiven } = child;
  const { gate, project } = sources;
  if (!command || !(await gate.isForeignProject())) return child;
  const direct = localRunnerOf(command);
  if (!isCwdGiven && direct !== undefined) {
    const moved = withAbsolutePaths(command, cwd);
    return { ...child, command: moved, cwd: neutralFolder(sources) };
  }
  const runner = direct ?? wrappedRunnerOf(command) ?? command.cmd;
  const verdict = gate.decide({
    kind: 'runner',
    name,
    file: origin,
    origin: 'foreign',
    content: () => contentOf(command, pathInside(project, cwd)),
    touches: [
      `lets ${runner} use this project's packages and settings for your server ${JSON.stringify(name)} in ${origin}`,
    ],
  });
  return verdict === 'approved' ? child : { ...child, problem: explain(child, runner) };
}

function contentOf({ cmd, args }: Command, inside: string | undefined): object {
  return { program: cmd, args, cwd: inside === undefined ? '${project}' : `\${project}/${inside}` };
}

function explain({ name, origin, isCwdGiven }: ChildConfig, runner: string): SwitchboardError {
  return new SwitchboardError(
    'APPROVAL_NEEDED',
    `Server "${name}" was not started: ${runner} would use this project's packages and settings, which you haven't approved.`,
    {
      hint: `To approve it, run: switchboard trust approve ${name}. Or ${isCwdGiven ? 'remove "cwd"' : 'set "cwd" to "~"'} in ${origin}; the server then runs in your home directory.`,
      data: { child: name, file: origin },
    },
  );
}
