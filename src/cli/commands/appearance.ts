// What the host sees of a server, and why, as `switchboard show` tells it.
import { formatDuration, printable } from '../../base/text.ts';
import type { ChildConfig, Config } from '../../config/config.ts';
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
  const isListed = show === 'direct' || show === 'flip';
  return {
    name,
    show,
    showBecause,
    suite: show === 'off' ? undefined : board.suites.toolFor(name),
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
    .filter((other) => other.show === 'direct' || other === child)
    .map((config) => ({ config, tools: pool.tools(config.name) ?? [] }));
  const names = new OwnTools().arrange(listed, (name) => board.suites.has(name));
  return [...names].flatMap(([name, { config }]) => (config === child ? [name] : []));
}

export function printAppearances(all: readonly Appearance[], output: Output): void {
  if (all.length === 0) output.line(noServers());
  const rows = all.map((one) => {
    const about = one.show === 'off' ? one.showBecause : toolsInShort(one);
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

function toolsInShort({ show, suite, tools }: Appearance): string {
  if (show === 'suite') return `${suite}`;
  const own = tools ? `its own tools (${tools.length})` : 'its own tools';
  return show === 'flip' ? `${own}, while it is switched on` : own;
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
    ...(show === 'flip' || show === 'direct' ? [['also', `${suite}, listed or not`]] : []),
    ...(show === 'off'
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

function describeTools({ name, show, suite, tools }: Appearance): string {
  const which = tools ? `: ${inShort(tools)}` : `; \`switchboard tools ${name}\` tells which`;
  switch (show) {
    case 'off':
      return 'none';
    case 'suite':
      return `${suite}`;
    case 'direct':
      return `its own${which}`;
    case 'flip':
      return `its own, while it is switched on with gateway_activate${which}`;
  }
}

function inShort(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).map(printable).join(', ') || 'none'}${more}`;
}
