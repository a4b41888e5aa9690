// `switchboard assistant [server] [on|off|status]`: shows which servers have an assistant, and turns it on or off.
import { chooseProvider } from '../../assistant/choose.ts';
import { settleAssistant } from '../../assistant/settings.ts';
import {
  type AssistantState,
  assistantOf,
  type SwitchRequest,
  switchAssistantOff,
  switchAssistantOn,
} from '../../assistant/switch.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { cleanText, printable } from '../../base/text.ts';
import type { ChildConfig, Config } from '../../config/config.ts';
import { assistantRuntime } from '../../install/launch.ts';
import { RELOAD_HINT } from '../status/reload.ts';
import { printChanges } from '../terminal/changes.ts';
import { formatRows } from '../terminal/layout.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { noServers } from './no-servers.ts';
import { selfPath } from './skill.ts';
import {
  approveWritten,
  type CommandOptions,
  chosenChild,
  layersFor,
  loadFor,
  loadWithWarnings,
} from './with-switchboard.ts';

export interface AssistantOptions extends CommandOptions {
  readonly dryRun?: boolean | undefined;
}

export async function switchAssistant(
  name: string | undefined,
  state: string | undefined,
  options: AssistantOptions,
): Promise<number> {
  const output = createOutput(options);
  const wanted = parseState(state);
  if (wanted === 'status') {
    const children = await states(await chosenServer(name, state, options), options);
    output.json({ assistants: children });
    printStates(children, output);
    return 0;
  }
  const request = await prepare(name ?? '', options);
  const { dryRun } = request;
  const act = wanted === 'on' ? switchAssistantOn : switchAssistantOff;
  const { changes, kept } = await act(request);
  if (!dryRun) await approveWritten(options, request.config);
  const after = dryRun ? undefined : await statesAfter(request.child, options);
  output.json({ dryRun, changes, kept, ...(after && { assistants: after }) });

  printChanges(changes, dryRun, output);
  for (const file of kept) output.line(`${KEPT[wanted]} ${cleanText(file)}`);
  const server = `Server "${printable(name ?? '')}"`;
  if (changes.length === 0) output.line(`${server} ${UNCHANGED[wanted]}. Nothing was changed.`);
  else if (!dryRun) output.line(`${server} ${CHANGED[wanted]}.${RELOAD_HINT}`);
  for (const { name: other } of after?.filter((one) => one.name !== name) ?? []) {
    output.line(`It is named "${printable(other)}" in its own file.`);
  }
  return 0;
}

/** Whether `switchboard assistant serve on` refers to a server named "serve", and not to one named "on". */
export async function isSwitchOfServe(
  server: string | undefined,
  options: AssistantOptions,
): Promise<boolean> {
  if (server === undefined || !STATES.has(server)) return false;
  const { children } = await loadFor(options);
  return children.has('serve') && !children.has(server);
}

const STATES = new Set(['on', 'off', 'status']);

/** `switchboard assistant status` means all servers, unless one is named "status". */
async function chosenServer(
  name: string | undefined,
  state: string | undefined,
  options: AssistantOptions,
): Promise<string | undefined> {
  if (name === undefined || state !== undefined || !STATES.has(name)) return name;
  const { children } = await loadFor(options);
  if (children.has(name)) return name;
  if (name === 'status') return undefined;
  throw new SwitchboardError('USAGE', 'Missing server name.', {
    hint: `For example: switchboard assistant memory ${name}`,
  });
}

const CHANGED = { on: 'now has an assistant', off: 'no longer has an assistant' };
const UNCHANGED = { on: 'already has an assistant', off: 'has no assistant' };
const KEPT = { on: 'using your file', off: 'kept your file' };

async function prepare(name: string, options: AssistantOptions): Promise<SwitchRequest> {
  const config = await loadWithWarnings(options);
  const { places, layers } = await layersFor(options);
  const child = chosenChild(config, name);
  if (child.problem?.code === 'APPROVAL_NEEDED') throw child.problem;
  return {
    child,
    config,
    places,
    layers,
    runtime: assistantRuntime(selfPath()),
    dryRun: options.dryRun === true,
    env: process.env,
    reload: async () => {
      await approveWritten(options, config);
      return (await loadFor(options)).children.get(name);
    },
  };
}

async function states(name: string | undefined, options: AssistantOptions): Promise<KnownState[]> {
  const config = await loadWithWarnings(options);
  const children = name === undefined ? [...config.children.values()] : [chosenChild(config, name)];
  return statesOf(children, config);
}

/** The server's own file may use a different name than the one that started its assistant. */
async function statesAfter(
  { name, origin }: ChildConfig,
  options: AssistantOptions,
): Promise<KnownState[]> {
  const config = await loadFor(options);
  const children = [...config.children.values()];
  const same = children.filter((child) => child.name === name);
  return statesOf(
    same.length > 0 ? same : children.filter((child) => child.origin === origin),
    config,
  );
}

async function statesOf(children: readonly ChildConfig[], config: Config): Promise<KnownState[]> {
  return Promise.all(
    children.map(async (child) => {
      const state: KnownState = await assistantOf(child, config);
      return state.isOn ? Object.assign(state, { asks: describeModel(child) }) : state;
    }),
  );
}

interface KnownState extends AssistantState {
  /** The model and provider it uses, or why there is none. */
  readonly asks?: string;
}

function describeModel(child: ChildConfig): string {
  const { env } = process;
  const { assistant } = child.behind ?? child;
  try {
    const { provider, model } = chooseProvider({ settings: settleAssistant(assistant, env), env });
    return model === undefined ? provider : `${model} (${provider})`;
  } catch (error) {
    if (error instanceof SwitchboardError) return `none: ${error.text}`;
    throw error;
  }
}

function printStates(children: readonly KnownState[], output: Output): void {
  if (children.length === 0) output.line(noServers());
  const rows = children.map(({ name, isOn, way, origin, asks }) => {
    const by = way === 'folder' ? `files next to ${origin}` : 'the configuration';
    return {
      cells: [
        { text: printable(name), style: 'bold' as const },
        { text: isOn ? 'on ' : 'off' },
        { text: printable(isOn ? `by ${by}` : origin), style: 'dim' as const },
      ],
      below: asks === undefined ? undefined : { text: `model: ${printable(asks)}` },
    };
  });
  for (const line of formatRows(rows, output)) output.line(line);
}

function parseState(state = 'status'): 'on' | 'off' | 'status' {
  if (state === 'on' || state === 'off' || state === 'status') return state;
  throw new SwitchboardError('USAGE', `Invalid state: "${state}".`, {
    hint: 'Use on, off or status. For example: switchboard assistant memory on',
  });
}
