// What the gateway's tools answer, in words that a model and a person can act on.
import { cleanText } from '../base/text.ts';
import type { ChildConfig } from '../config/config.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import type { OwnTool } from './own-tools.ts';

/** A child that can be switched, as one session sees it. */
export interface SwitchStatus {
  readonly name: string;
  readonly state: 'idle' | 'warming' | 'ready' | 'active' | 'error';
  readonly ready: boolean;
  readonly active: boolean;
  readonly tools: number | undefined;
  readonly error: string | undefined;
}

const NO_SERVERS = 'No servers configured.';

/** So many new tools are named; a list of hundreds would cost more than it helps. */
const MOST_NAMES = 60;

export function activatedText(name: string, tools: readonly OwnTool[], suite: string): string {
  const named = tools.slice(0, MOST_NAMES).map((tool) => nameOf(tool));
  const more = tools.length > named.length ? `, and ${tools.length - named.length} more` : '';
  const list = tools.length > 0 ? ` They are: ${named.join(', ')}${more}.` : '';
  return (
    `Activated "${name}" — ${count(tools.length)} injected into context.${list} ` +
    `If they are not in your list of tools, call them through ${suite}: ` +
    '{"action": "call", "subtool": "<name>", "args": {...}}; {"action": "introspect"} shows what they take.'
  );
}

/** For a session in which the list of tools must not change by what it does. */
export function staticText(name: string, suite: string): string {
  return (
    `The list of tools does not change in this session. Call the tools of "${name}" through ${suite}: ` +
    '{"action": "introspect"} lists them, {"action": "call", "subtool": "<name>", "args": {...}} runs one.'
  );
}

/** What it is listed as, and what its server calls it where that is another name. */
function nameOf({ tool: { name }, subtool }: OwnTool): string {
  return cleanText(name === subtool ? name : `${name} (subtool ${subtool})`);
}

export function alreadyActiveText(name: string, suite: string): string {
  return `"${name}" is already active. Its tools can also be called through ${suite}.`;
}

export function deactivatedText(name: string, tools: number): string {
  return `Deactivated "${name}" — ${count(tools)} removed from context. It stays warm.`;
}

export function notActiveText(name: string): string {
  return `"${name}" is not active.`;
}

/** With the reason where the child has failed; without one it is still starting. */
export function notReadyText(name: string, reason?: string): string {
  return reason === undefined
    ? `"${name}" is not ready: it is still warming up. Try again in a moment.`
    : `"${name}" is not ready: ${reason}`;
}

export function unknownServerText(name: string, names: readonly string[]): string {
  const available = names.length === 0 ? NO_SERVERS : `Available servers: ${names.join(', ')}.`;
  return `Unknown server "${cleanText(name).slice(0, 100)}". ${available}`;
}

export function notFlipText({ name, show }: ChildConfig, suite: string): string {
  return show === 'direct'
    ? `"${name}" cannot be switched: its tools are always listed.`
    : `"${name}" cannot be switched: use it through the tool ${suite}.`;
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

function count(tools: number): string {
  return `${tools} tool${tools === 1 ? '' : 's'}`;
}
