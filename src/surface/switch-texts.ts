// The answers of the gateway's tools, for models and people.
import { cleanText } from '../base/text.ts';
import type { ChildConfig } from '../config/config.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { OwnTool } from './own-tools.ts';

/** A server that can be switched, as one session sees it. */
export interface SwitchStatus {
  readonly name: string;
  readonly state: 'idle' | 'warming' | 'ready' | 'active' | 'error';
  readonly ready: boolean;
  readonly active: boolean;
  readonly tools: number | undefined;
  readonly error: string | undefined;
}

const NO_SERVERS = 'No servers configured.';

/** More names than this cost more than they help. */
const MOST_NAMES = 60;

/** How this host can call the tools of an active server. */
export interface Reach {
  /** The server's suite, if the host lists it. */
  readonly suite: string | undefined;
  /** The host never refreshes its tool list. */
  readonly neverRelists: boolean;
  /** The host has refreshed its tool list. */
  readonly isFetched: boolean;
}

export function activatedText(name: string, tools: readonly OwnTool[], reach: Reach): string {
  const { suite, neverRelists, isFetched } = reach;
  if (neverRelists) return unseenText(name, tools, suite);
  const list = tools.length > 0 ? ` They are: ${enumerate(tools.map(nameOf))}.` : '';
  const text = `Activated "${name}" — ${count(tools.length)} injected into context.${list}`;
  if (suite !== undefined) {
    return `${text} If they are not in your list of tools, call them through ${suite}: ${SUITE_CALL}`;
  }
  return isFetched ? text : `${text} ${NOT_FETCHED}`;
}

const SUITE_CALL =
  '{"action": "call", "subtool": "<name>", "args": {...}}; {"action": "introspect"} shows their parameters.';

const NOT_FETCHED =
  'The host has not refreshed its tool list yet. If the tools stay missing, the user can set "flip": {"suites": "always"} in switchboard.config.json and reconnect.';

/** For a host that doesn't refresh its tool list. */
function unseenText(name: string, tools: readonly OwnTool[], suite: string | undefined): string {
  const text = `Activated "${name}". This host does not refresh its tool list`;
  if (suite === undefined) {
    return `${text}, so its tools cannot be called in this session. The user can set "flip": {"suites": "auto"} in switchboard.config.json and reconnect.`;
  }
  const subtools = tools.map(({ subtool }) => cleanText(subtool));
  const list = subtools.length > 0 ? ` The subtools are: ${enumerate(subtools)}.` : '';
  return `${text}: call its tools through ${suite}, ${SUITE_CALL}${list}`;
}

/** For a call to a tool whose server isn't switched on. */
export function notOnText(
  name: string,
  reach: { subtool: string; suite: string | undefined; isSwitchable: boolean },
): string {
  const { subtool, suite, isSwitchable } = reach;
  const ways = [
    ...(isSwitchable ? [`call gateway_activate with {"name": ${JSON.stringify(name)}}`] : []),
    ...(suite === undefined
      ? []
      : [`call ${suite} with {"action": "call", "subtool": ${JSON.stringify(subtool)}}`]),
  ];
  return `It belongs to server "${name}", which is not active: ${ways.join(', or ')}.`;
}

/** For a session whose tool list must not change. Its first sentence is for the user. */
export function staticText(name: string, subtools: readonly string[], suite: string): string {
  return (
    `"${name}" is ready: its ${count(subtools.length)} can be called through ${suite}. ` +
    (subtools.length > 0 ? `Subtools: ${enumerate(subtools.map(cleanText))}. ` : '') +
    'Run one with {"action": "call", "subtool": "<name>", "args": {...}}; {"action": "introspect"} shows their parameters.'
  );
}

/** The listed name, and the server's own name if it differs. */
function nameOf({ tool: { name }, subtool }: OwnTool): string {
  return cleanText(name === subtool ? name : `${name} (subtool ${subtool})`);
}

export function alreadyActiveText(name: string): string {
  return `"${name}" is already active.`;
}

export function deactivatedText(name: string, tools: number): string {
  return `Deactivated "${name}" — ${count(tools)} removed from context. It stays warm.`;
}

export function notActiveText(name: string): string {
  return `"${name}" is not active.`;
}

/** Without a reason, the server is still starting. */
export function notReadyText(name: string, reason?: string): string {
  return reason === undefined
    ? `"${name}" is not ready: it is still warming up. Try again in a moment.`
    : `"${name}" is not ready: ${reason}`;
}

export function unknownServerText(name: string, names: readonly string[]): string {
  const available = names.length === 0 ? NO_SERVERS : `Available servers: ${names.join(', ')}.`;
  return `Unknown server "${cleanText(name).slice(0, 100)}". ${available}`;
}

export function notFlipText({ name }: ChildConfig, suite: string | undefined): string {
  return suite === undefined
    ? `"${name}" cannot be activated or deactivated: its tools are always listed.`
    : `"${name}" cannot be activated or deactivated: use it through the tool ${suite}.`;
}

export function statusResult(servers: readonly SwitchStatus[]): Verbatim {
  const text = servers.map(describe).join('\n') || NO_SERVERS;
  // Not structuredContent: Claude Code and Codex would show their model that instead of the text.
  return Verbatim.of({
    content: [{ type: 'text', text }],
    _meta: { 'switchboard/servers': servers },
  });
}

const SIGNS = { idle: '○', warming: '◐', ready: '●', active: '▶', error: '✗' };

function describe({ name, state, tools, error }: SwitchStatus): string {
  const known = tools === undefined ? '' : ` (${count(tools)})`;
  const reason = error === undefined ? '' : ` — ${cleanText(error)}`;
  return `${SIGNS[state]} ${cleanText(name)}: ${state}${known}${reason}`;
}

function enumerate(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMES);
  const more = names.length > named.length ? `, and ${names.length - named.length} more` : '';
  return `${named.join(', ')}${more}`;
}

function count(tools: number): string {
  return `${tools} tool${tools === 1 ? '' : 's'}`;
}
