// `switchboard skill install|uninstall`: the /switchboard command in Claude Code, and Switchboard's registration there.
import { existsSync, realpathSync } from 'node:fs';
import { ERRORS } from '../../base/errors.ts';
import { countLeftBehind } from '../../install/import.ts';
import { launchCommand } from '../../install/launch.ts';
import { findInstallPlaces } from '../../install/places.ts';
import { type Registration, register, unregister } from '../../install/registration.ts';
import { installSkill, uninstallSkill } from '../../install/skill.ts';
import { onEndSignal } from '../signals.ts';
import { printChanges, printRegistration } from '../terminal/changes.ts';
import { count, createOutput } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import type { CommandOptions } from './with-switchboard.ts';

export interface SkillCommandOptions extends CommandOptions {
  readonly dryRun?: boolean | undefined;
  readonly register?: boolean | undefined;
}

export async function installSkillCommand(options: SkillCommandOptions): Promise<number> {
  const output = createOutput(options);
  const { places, dryRun, registering } = prepare(options);
  const changes = installSkill({ places, dryRun });
  const registration = await register(launchCommand(selfPath(), process.execPath), registering);
  const leftBehind = await countLeftBehind(places, selfPath());
  output.json({ dryRun, changes, registration, leftInMcpflip: leftBehind });

  printChanges(changes, dryRun, output);
  if (changes.some(({ action }) => action === 'copy')) {
    output.line(
      'Symbolic links are not available here, so the skill was copied. Reinstall it after an update.',
    );
  }
  printRegistration(registration, { aim: 'register', dryRun, output });
  if (leftBehind > 0) {
    output.line(
      `mcpflip has ${count(leftBehind, 'server')} you can import with: switchboard import`,
    );
  }
  const isNew = changes.length > 0 || registration.state === 'registered';
  const restart = 'restart Claude Code, then type /switchboard.';
  if (registration.state === 'failed') {
    output.line(`\nNext: register Switchboard manually as shown above, ${restart}`);
  } else if (!isNew) output.line('The skill is already installed. Nothing was changed.');
  else if (!dryRun) output.line(`\nNext: ${restart}`);
  return statusOf(registration);
}

export async function uninstallSkillCommand(options: SkillCommandOptions): Promise<number> {
  const output = createOutput(options);
  const { places, dryRun, registering } = prepare(options);
  const { changes, left } = uninstallSkill({ places, dryRun });
  const registration = await unregister(registering);
  output.json({ dryRun, changes, left, registration, serversFile: places.serversFile });

  printChanges(changes, dryRun, output);
  for (const path of left) {
    output.line(output.style('yellow', `not removed, because it links elsewhere: ${path}`));
  }
  printRegistration(registration, { aim: 'remove', dryRun, output });
  if (changes.length === 0) output.line('The skill is not installed. Nothing was changed.');
  if (existsSync(places.serversFile))
    output.line(`Your servers are still in ${places.serversFile}`);
  return statusOf(registration);
}

function prepare({ dryRun = false, register: isWanted = true }: SkillCommandOptions) {
  const { env } = process;
  const cwd = workingFolder();
  const places = findInstallPlaces(cwd, env);
  // `claude` runs in its own process group and doesn't get Ctrl-C. It is stopped when we exit.
  onEndSignal(() => process.exit(ERRORS.CANCELLED.exit), ERRORS.CANCELLED.exit);
  const registering = { places, cwd, env, isWanted, dryRun };
  return { places, dryRun, registering };
}

/** This program's real path. */
export function selfPath(): string {
  return realpathSync(process.argv[1] ?? '');
}

function statusOf({ state }: Registration): number {
  return state === 'failed' ? ERRORS.INSTALL_FAILED.exit : 0;
}
