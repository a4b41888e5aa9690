// `switchboard show [server] [how]`: how the host sees each server and why, and the way to change it.
import { SwitchboardError } from '../../base/errors.ts';
import { type Change, type Wanted as Changes, changeUse } from '../../config/change/change.ts';
import { type ChildConfig, SHOWS, STARTS } from '../../config/config.ts';
import { LONGEST_MS } from '../../config/defaults.ts';
import { type Layer, suiteOf } from '../../config/files/layers.ts';
import { findPlaces } from '../../config/files/places.ts';
import { parseIdleMs, readMainFiles } from '../../config/load.ts';
import { RELOAD_HINT } from '../status/reload.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import { type Appearance, appearanceOf, printAppearance, printAppearances } from './appearance.ts';
import {
  type CommandOptions,
  chosenChild,
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
  if (options.user && options.project) throw usage('--user and --project name two files.');
  if (!isChange && (options.user || options.project)) throw usage('There is nothing to write.');
  if (name === undefined) {
    if (isChange) throw usage('Which server?');
    const all = await appearances(options);
    output.json({ children: all });
    printAppearances(all, output);
    return 0;
  }
  const change = isChange ? await write(name, wanted, options) : undefined;
  // A change has printed the warnings already.
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

/** Writes it; undefined if all of it holds already and no file was asked for. */
async function write(
  name: string,
  wanted: Wanted,
  options: ShowOptions,
): Promise<Change | undefined> {
  const { config: configFile, user, project } = options;
  const child = chosenChild(await loadWithWarnings(options), name);
  const where = user ? 'user' : project ? 'project' : undefined;
  if (where === undefined && unmetOf(child, wanted).length === 0) return undefined;
  const places = findPlaces({ cwd: workingFolder(), env: process.env, configFile });
  const layers = await readMainFiles(places);
  const [stronger] = user ? keysSaidBy(layers, places.projectFile, name, wanted) : [];
  if (stronger) throw wouldBeOverruled(child, stronger);
  const change = await changeUse(child, wanted, places, layers, where);
  const now = chosenChild(await loadFor(options), name);
  const [unmet] = unmetOf(now, wanted);
  if (unmet) throw overruled(now, unmet, change.file);
  return change;
}

/** Those of the keys of which the project's file says something else, and would win. */
function keysSaidBy(
  layers: readonly Layer[],
  file: string | undefined,
  name: string,
  wanted: Wanted,
): Key[] {
  const layer = layers.find((one) => one.file === file);
  const said = layer ? suiteOf(layer.config, name) : {};
  const keys = Object.keys(wanted) as Key[];
  return keys.filter((key) => said[key] !== undefined && said[key] !== wanted[key]);
}

type Wanted = Omit<Changes, 'assistant'>;
type Key = keyof Wanted;

function unmetOf(child: ChildConfig, wanted: Wanted): Key[] {
  const keys: Key[] = ['show', 'start', 'idleMs'];
  return keys.filter((key) => wanted[key] !== undefined && wanted[key] !== child[key]);
}

/** Nothing is written that would change other projects and not this one. */
function wouldBeOverruled(child: ChildConfig, key: Key): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `Nothing was written: for server "${child.name}" ${key} is ${child[key]} in this project: ${reasonOf(child, key)}.`,
    {
      hint: 'That is stronger. Change it there, or leave out --user.',
      data: { child: child.name },
    },
  );
}

function reasonOf(child: ChildConfig, key: Key): string {
  return { show: child.showBecause, start: child.startBecause, idleMs: child.idleBecause }[key];
}

function overruled(child: ChildConfig, key: Key, file: string): SwitchboardError {
  return new SwitchboardError(
    'CONFIG_NOT_CHANGED',
    `${file} says so now, but for server "${child.name}" ${key} is still ${child[key]}: ${reasonOf(child, key)}.`,
    { hint: 'That is stronger. Change it there.', data: { child: child.name, file } },
  );
}

function printChange(change: Change | undefined, output: Output): void {
  if (!change?.isChanged) return output.line('Nothing was written: this holds already.');
  output.line(`Wrote ${change.file}.`);
  if (change.backup !== undefined) {
    output.line(output.style('dim', `What it was before is in ${change.backup}.`));
  }
}

async function appearances(options: ShowOptions, name?: string): Promise<Appearance[]> {
  return withSwitchboard(options, async ({ config, switchboard }) => {
    const children =
      name === undefined ? [...config.children.values()] : [chosenChild(config, name)];
    return children.map((child) => appearanceOf(child, config, switchboard));
  });
}

function parseWanted(how: string | undefined, { start, idleMs }: ShowOptions): Wanted {
  return {
    ...(how !== undefined && { show: choose(how, SHOWS, 'A server cannot be shown as') }),
    ...(start !== undefined && { start: choose(start, STARTS, 'A server cannot be started') }),
    ...(idleMs !== undefined && { idleMs: parseMs(idleMs) }),
  };
}

function choose<T extends string>(word: string, choices: readonly T[], refusal: string): T {
  const choice = choices.find((one) => one === word);
  if (choice) return choice;
  throw usage(`${refusal} "${word}".`, `Choose one of: ${choices.join(', ')}.`);
}

function parseMs(text: string): number {
  const ms = parseIdleMs(text);
  if (ms !== undefined) return ms;
  throw usage(`--idle-ms "${text}" is not a number from 0 to ${LONGEST_MS}.`, '0 is never.');
}

function usage(message: string, hint = 'See: switchboard show --help'): SwitchboardError {
  return new SwitchboardError('USAGE', message, { hint });
}
