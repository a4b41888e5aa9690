// What the host sees of a server, and why, as `switchboard show` tells it.
import { formatDuration, printable } from '../../base/text.ts';
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { modeOf } from '../../surface/modes/table.ts';
import { OwnTools } from '../../surface/own-tools.ts';
import type { Switchboard } from '../../switchboard.ts';
import { formatRows } from '../terminal/layout.ts';
import type { Output } from '../terminal/output.ts';
import { noServers } from './no-servers.ts';

export interface Appearance
  extends Pick<
    ChildConfig,
    'name' | 'show' | 'showBecause' | 'start' | 'startBecause' | 'idleMs' | 'idleBecause' | 'origin'
  > {
  /** The tool that stands for the whole server; undefined for one that is off. */
  readonly suite: string | undefined;
  /** The names of its own tools, where the host is shown these and they are known. */
  readonly tools: readonly string[] | undefined;
}

/** So many names are printed; all of them are in the JSON. */
const MOST_NAMES = 60;

export function appearanceOf(
  child: ChildConfig,
  config: Config,
  { board, pool }: Switchboard,
): Appearance {
  const { name, show, showBecause, start, startBecause, idleMs, idleBecause, origin } = child;
  const isListed = modeOf(child).ownTools !== 'never';
  return {
    name,
    show,
    showBecause,
    suite: isOff(child) ? undefined : board.suites.toolFor(name),
    tools: isListed && pool.tools(name) ? ownToolsOf(child, config, { board, pool }) : undefined,
    start,
    startBecause,
    idleMs,
    idleBecause,
    origin,
  };
}

/** As listed beside the tools that are always there; other servers that are on can take names, too. */
function ownToolsOf(
  child: ChildConfig,
  { children }: Config,
  { board, pool }: Pick<Switchboard, 'board' | 'pool'>,
): string[] {
  const listed = [...children.values()]
    .filter((other) => modeOf(other).ownTools === 'always' || other === child)
    .map((config) => ({ config, tools: pool.tools(config.name) ?? [] }));
  const names = new OwnTools().arrange(listed, (name) => board.isTaken(name));
  return [...names].flatMap(([name, { config }]) => (config === child ? [name] : []));
}

export function printAppearances(all: readonly Appearance[], output: Output): void {
  if (all.length === 0) output.line(noServers());
  const rows = all.map((one) => {
    const about = isOff(one) ? one.showBecause : toolsInShort(one);
    return {
      cells: [
        { text: printable(one.name), style: 'bold' as const },
        { text: one.show.padEnd(6) },
        { text: printable(about), style: 'dim' as const },
      ],
    };
  });
  for (const line of formatRows(rows, output)) output.line(line);
}

function toolsInShort(one: Appearance): string {
  const { ownTools, condition } = modeOf(one);
  if (ownTools === 'never') return `${one.suite}`;
  const own = one.tools ? `its own tools (${one.tools.length})` : 'its own tools';
  return condition === undefined ? own : `${own}, ${condition}`;
}

export function printAppearance(one: Appearance, output: Output): void {
  const { name, show, showBecause, suite, start, startBecause, idleMs, idleBecause, origin } = one;
  output.line(`${output.style('bold', printable(name))} is shown as ${output.style('bold', show)}`);
  const when = start === 'eager' ? 'eager, as soon as the host is connected' : 'lazy, on first use';
  const stop =
    idleMs === 0 ? 'never for want of use' : `after ${formatDuration(idleMs)} without a call`;
  const lines = [
    ['because', showBecause],
    ['tools', describeTools(one)],
    ...(modeOf(one).ownTools === 'never' ? [] : [['also', `${suite}, listed or not`]]),
    ...(isOff(one)
      ? []
      : [
          ['start', `${when}: ${startBecause}`],
          ['stop', `${stop}: ${idleBecause}`],
        ]),
    ['declared', origin],
  ];
  const rows = lines.map(([what = '', says = '']) => ({
    cells: [{ text: what, style: 'dim' as const }, { text: printable(says) }],
  }));
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
}

function describeTools(one: Appearance): string {
  const { name, suite = 'none', tools } = one;
  const { ownTools, condition } = modeOf(one);
  if (ownTools === 'never') return suite;
  const which = tools ? `: ${inShort(tools)}` : `; \`switchboard tools ${name}\` tells which`;
  return condition === undefined ? `its own${which}` : `its own, ${condition}${which}`;
}

function inShort(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).map(printable).join(', ') || 'none'}${more}`;
}
