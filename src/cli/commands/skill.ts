// `switchboard skill install|uninstall`: the command /switchboard of Claude Code, and Switchboard among
// its servers.
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
  const { places, dryRun, self, registering } = prepare(options);
  const changes = installSkill({ places, dryRun });
  const registration = await register(self, registering);
  const leftBehind = await countLeftBehind(places, self);
  output.json({ dryRun, changes, registration, leftInMcpflip: leftBehind });

  printChanges(changes, dryRun, output);
  if (changes.some(({ action }) => action === 'copy')) {
    output.line('Links cannot be made here, so it is a copy: install again after an update.');
  }
  printRegistration(registration, { aim: 'register', dryRun, output });
  if (leftBehind > 0) {
    output.line(
      `mcpflip has ${count(leftBehind, 'server')} that you can take over: switchboard import`,
    );
  }
  const isNew = changes.length > 0 || registration.state === 'registered';
  const restart = 'restart Claude Code once, then type /switchboard in it.';
  if (registration.state === 'failed') {
    output.line(`\nNext: register Switchboard by hand as above, ${restart}`);
  } else if (!isNew) output.line('The skill was in place; nothing was changed.');
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
    output.line(output.style('yellow', `left alone, since it leads elsewhere: ${path}`));
  }
  printRegistration(registration, { aim: 'remove', dryRun, output });
  if (changes.length === 0) output.line('The skill was not in place; no file was changed.');
  if (existsSync(places.serversFile)) output.line(`Your servers stay in ${places.serversFile}`);
  return statusOf(registration);
}

function prepare({ dryRun = false, register: isWanted = true }: SkillCommandOptions) {
  const { env } = process;
  const cwd = workingFolder();
  const places = findInstallPlaces(cwd, env);
  // `claude` runs as a group of its own, which does not hear Ctrl-C; it ends when we do.
  onEndSignal(() => process.exit(ERRORS.CANCELLED.exit), ERRORS.CANCELLED.exit);
  const registering = { places, cwd, env, isWanted, dryRun };
  return { places, dryRun, self: selfLaunch(), registering };
}

/** How a host starts the program that is running now. */
export function selfLaunch(): string[] {
  return launchCommand(selfPath(), process.execPath);
}

/** The real path of the program that is running now. */
export function selfPath(): string {
  return realpathSync(process.argv[1] ?? '');
}

function statusOf({ state }: Registration): number {
  return state === 'failed' ? ERRORS.INSTALL_FAILED.exit : 0;
}
