// How hosts see a server, and why, for `switchboard show`.
import { formatDuration, printable } from '../../base/text.ts';
import { type ChildConfig, isOff } from '../../config/config.ts';
import { modeOf } from '../../surface/modes/table.ts';
import type { Switchboard } from '../../switchboard.ts';
import { formatRows } from '../terminal/layout.ts';
import type { Output } from '../terminal/output.ts';
import { noServers } from './no-servers.ts';

export interface Appearance
  extends Pick<
    ChildConfig,
    'name' | 'show' | 'showBecause' | 'start' | 'startBecause' | 'idleMs' | 'idleBecause' | 'origin'
  > {
  /** The suite tool; undefined if the server is off. */
  readonly suite: string | undefined;
  /** The names of its own tools, if they are shown to hosts and known. */
  readonly tools: readonly string[] | undefined;
}

/** More names are only in the JSON output. */
const MAX_NAMES = 60;

export function appearanceOf(child: ChildConfig, { board, pool }: Switchboard): Appearance {
  const { name, show, showBecause, start, startBecause, idleMs, idleBecause, origin } = child;
  const isListed = modeOf(child).ownTools !== 'never';
  return {
    name,
    show,
    showBecause,
    suite: isOff(child) ? undefined : board.suites.toolFor(name),
    tools: isListed && pool.tools(name) ? ownToolsOf(child, { board }) : undefined,
    start,
    startBecause,
    idleMs,
    idleBecause,
    origin,
  };
}

/** Names as listed next to the tools that are always there. Other active servers may change them. */
function ownToolsOf(child: ChildConfig, { board }: Pick<Switchboard, 'board'>): string[] {
  return [...board.alwaysListed(child)].flatMap(([name, { config }]) =>
    config === child ? [name] : [],
  );
}

export function printAppearances(all: readonly Appearance[], output: Output): void {
  if (all.length === 0) output.line(noServers());
  const rows = all.map((one) => {
    const about = isOff(one) ? one.showBecause : summarizeTools(one);
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

function summarizeTools(one: Appearance): string {
  const { ownTools, condition } = modeOf(one);
  if (ownTools === 'never') return `${one.suite}`;
  const own = one.tools ? `its own tools (${one.tools.length})` : 'its own tools';
  return condition === undefined ? own : `${own}, ${condition}`;
}

export function printAppearance(one: Appearance, output: Output): void {
  const { name, show, showBecause, suite, start, startBecause, idleMs, idleBecause, origin } = one;
  output.line(`${output.style('bold', printable(name))} is shown as ${output.style('bold', show)}`);
  const when = start === 'eager' ? 'eager, as soon as a host connects' : 'lazy, on first use';
  const stop = idleMs === 0 ? 'never when idle' : `after ${formatDuration(idleMs)} without a call`;
  const lines = [
    ['reason', showBecause],
    ['tools', describeTools(one)],
    ...(modeOf(one).ownTools === 'never' ? [] : [['suite', `${suite}, can always be called`]]),
    ...(isOff(one)
      ? []
      : [
          ['start', `${when} (${startBecause})`],
          ['stop', `${stop} (${idleBecause})`],
        ]),
    ['declared', origin],
  ];
  const rows = lines.map(([title = '', text = '']) => ({
    cells: [{ text: title, style: 'dim' as const }, { text: printable(text) }],
  }));
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
}

function describeTools(one: Appearance): string {
  const { name, suite = 'none', tools } = one;
  const { ownTools, condition } = modeOf(one);
  if (ownTools === 'never') return suite;
  const which = tools ? `: ${listNames(tools)}` : ` (list them with: switchboard tools ${name})`;
  return condition === undefined ? `its own${which}` : `its own, ${condition}${which}`;
}

function listNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).map(printable).join(', ') || 'none'}${more}`;
}
