// `switchboard show [server] [how]`: shows how hosts see each server and why, or changes it.
import { SwitchboardError } from '../../base/errors.ts';
import { type ConfigChange, changeUse, type UseChange } from '../../config/change/change.ts';
import { type ChildConfig, SHOWS, STARTS } from '../../config/config.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { type Layer, suiteOf } from '../../config/files/layers.ts';
import { parseIdleMs } from '../../config/settings/general.ts';
import { RELOAD_HINT } from '../status/reload.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { type Appearance, appearanceOf, printAppearance, printAppearances } from './appearance.ts';
import {
  approveWritten,
  type CommandOptions,
  chosenChild,
  layersFor,
  loadFor,
  loadWithWarnings,
  withSwitchboard,
} from './with-switchboard.ts';

export interface ShowOptions extends CommandOptions {
  readonly start?: string | undefined;
  readonly idleMs?: string | undefined;
  readonly project?: boolean | undefined;
  readonly user?: boolean | undefined;
}

export async function show(
  name: string | undefined,
  how: string | undefined,
  options: ShowOptions,
): Promise<number> {
  const output = createOutput(options);
  const wanted = parseWanted(how, options);
  const isChange = Object.keys(wanted).length > 0;
  if (options.user && options.project) throw usage('Use either --user or --project, not both.');
  if (!isChange && (options.user || options.project))
    throw usage('--user and --project require a change.');
  if (name === undefined) {
    if (isChange) throw usage('Missing server name.');
    const all = await appearances(options);
    output.json({ children: all });
    printAppearances(all, output);
    return 0;
  }
  const change = isChange ? await write(name, wanted, options) : undefined;
  // `write` has already printed the warnings.
  const quiet = isChange ? ({ ...options, warnings: 'shown' } as const) : options;
  const [appearance] = await appearances(quiet, name);
  if (!appearance) throw new Error('Nothing was chosen.');
  output.json({
    children: [appearance],
    ...(isChange && { change: change ?? { isChanged: false } }),
  });
  if (isChange) printChange(change, output);
  printAppearance(appearance, output);
  if (change?.isChanged) output.line(RELOAD_HINT);
  return 0;
}

/** Undefined if nothing changes and no file was specified. */
async function write(
  name: string,
  wanted: Wanted,
  options: ShowOptions,
): Promise<ConfigChange | undefined> {
  const { user, project } = options;
  const before = await loadWithWarnings(options);
  const child = chosenChild(before, name);
  if (child.problem?.code === 'APPROVAL_NEEDED') throw child.problem;
  const where = user ? 'user' : project ? 'project' : undefined;
  if (where === undefined && unmetOf(child, wanted).length === 0) return undefined;
  const { places, layers } = await layersFor(options);
  const [conflict] = user ? conflictingKeys(layers, places.projectFile, name, wanted) : [];
  if (conflict) throw wouldBeOverridden(child, conflict);
  const change = await changeUse(child, wanted, places, layers, where);
  await approveWritten(options, before);
  const now = chosenChild(await loadFor(options), name);
  const [unmet] = unmetOf(now, wanted);
  if (unmet) throw overridden(now, unmet, change.file);
  return change;
}

/** Keys that the project's file sets to something else, which would take precedence. */
function conflictingKeys(
  layers: readonly Layer[],
  file: string | undefined,
  name: string,
  wanted: Wanted,
): Key[] {
  const layer = layers.find((one) => one.file === file);
  const current = layer ? suiteOf(layer.config, name) : {};
  const keys = Object.keys(wanted) as Key[];
  return keys.filter((key) => current[key] !== undefined && current[key] !== wanted[key]);
}

type Wanted = Omit<UseChange, 'assistant'>;
type Key = keyof Wanted;

function unmetOf(child: ChildConfig, wanted: Wanted): Key[] {
  const keys: Key[] = ['show', 'start', 'idleMs'];
  return keys.filter((key) => wanted[key] !== undefined && wanted[key] !== child[key]);
}

/** Nothing is written if it would affect every project but this one. */
function wouldBeOverridden(child: ChildConfig, key: Key): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `Nothing was changed: in this project, ${key} of server "${child.name}" is ${child[key]} (${reasonOf(child, key)}).`,
    {
      hint: 'That setting takes precedence. Change it there, or leave out --user.',
      data: { child: child.name },
    },
  );
}

function reasonOf(child: ChildConfig, key: Key): string {
  return { show: child.showBecause, start: child.startBecause, idleMs: child.idleBecause }[key];
}

function overridden(child: ChildConfig, key: Key, file: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `Wrote ${file}, but ${key} of server "${child.name}" is still ${child[key]} (${reasonOf(child, key)}).`,
    { hint: 'That setting takes precedence. Change it there.', data: { child: child.name, file } },
  );
}

function printChange(change: ConfigChange | undefined, output: Output): void {
  if (!change?.isChanged) return output.line('Already set. Nothing was changed.');
  output.line(`Wrote ${change.file}.`);
  if (change.backup !== undefined) {
    output.line(output.style('dim', `Backup: ${change.backup}`));
  }
}

async function appearances(options: ShowOptions, name?: string): Promise<Appearance[]> {
  return withSwitchboard(options, async ({ config, switchboard }) => {
    const children =
      name === undefined ? [...config.children.values()] : [chosenChild(config, name)];
    return children.map((child) => appearanceOf(child, switchboard));
  });
}

function parseWanted(how: string | undefined, { start, idleMs }: ShowOptions): Wanted {
  return {
    ...(how !== undefined && { show: choose(how, SHOWS, 'show') }),
    ...(start !== undefined && { start: choose(start, STARTS, '--start') }),
    ...(idleMs !== undefined && { idleMs: parseMs(idleMs) }),
  };
}

function choose<T extends string>(word: string, choices: readonly T[], what: string): T {
  const choice = choices.find((one) => one === word);
  if (choice) return choice;
  throw usage(`Invalid value for ${what}: "${word}".`, `Use one of: ${choices.join(', ')}.`);
}

function parseMs(text: string): number {
  const ms = parseIdleMs(text);
  if (ms !== undefined) return ms;
  throw usage(
    `Invalid value for --idle-ms: "${text}".`,
    `Use a number from 0 (never) to ${LONGEST_MS}.`,
  );
}

function usage(message: string, hint = 'See: switchboard show --help'): SwitchboardError {
  return new SwitchboardError('USAGE', message, { hint });
}
