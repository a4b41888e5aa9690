// A suite as the host sees it: its name, description and input, and how that input is read.
import { SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { cleanText, onOneLine } from '../base/text.ts';
import type { ChildConfig, Introspection } from '../config/config.ts';
import type { Hints } from '../mcp/annotations.ts';
import type { Tool } from '../mcp/tools.ts';
import { Verbatim } from '../rpc/verbatim.ts';

export type SuiteAction =
  | {
      readonly action: 'introspect';
      readonly subtool: string | undefined;
      readonly verbosity: Introspection['mode'] | undefined;
    }
  | { readonly action: 'call'; readonly subtool: string; readonly args: Verbatim };

const VERBOSITIES = ['summary', 'full', 'redacted'] as const;

/** The input of every suite. */
export const SUITE_SCHEMA = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['introspect', 'call'] },
    subtool: { type: 'string' },
    args: { type: 'object' },
    verbosity: { type: 'string', enum: VERBOSITIES },
  },
  required: ['action'],
};

/** Which subtools a suite may call: all exposed ones, or only the read-only ones. */
export type Access = 'all' | 'read';

export interface SuiteLook {
  readonly hints?: Hints | undefined;
  readonly access?: Access;
  /** Search words for a suite that isn't loaded at once; undefined if it should be. */
  readonly searchWords?: readonly string[] | undefined;
}

export function createSuiteTool(name: string, config: ChildConfig, look: SuiteLook = {}): Tool {
  const { hints: annotations = {}, access = 'all', searchWords } = look;
  const title = onOneLine(config.name);
  const description = describeSuite(config);
  const isRead = access === 'read';
  const { keywords = [] } = config;
  return {
    name,
    title: isRead ? `${title} (read-only)` : title,
    description: isRead ? `${description} ${READ_ONLY_NOTE}` : description,
    inputSchema: SUITE_SCHEMA,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    _meta: searchWords ? found([...keywords, ...searchWords]) : alwaysLoaded(keywords),
  };
}

const READ_ONLY_NOTE = 'Lists and calls only subtools that are marked as read-only.';

/** Loading more tools than this at once costs more than a search: each is part of every request. */
export const MOST_LOADED = 12;

/** Makes Claude Code load a tool at once instead of on search. */
export function alwaysLoaded(keywords: readonly string[] = []): Record<string, unknown> {
  return { 'anthropic/alwaysLoad': true, ...found(keywords) };
}

/** Words for Claude Code's tool search; the model doesn't see them. */
function found(words: readonly string[]): Record<string, unknown> {
  const hint = cleanText(words.join(' ')).slice(0, 500);
  return hint === '' ? {} : { 'anthropic/searchHint': hint };
}

/** The description the model reads: from the configuration, or made from description or name. */
function describeSuite(config: ChildConfig): string {
  const written = writtenDescription(config);
  if (written !== undefined) return cleanText(written);
  const description = cleanText(config.description ?? '')
    .trim()
    .replace(/\.$/, '');
  const about = description || onOneLine(config.derivedDescription ?? config.name);
  return `Use this tool for ${about}. Actions: 'introspect' | 'call'.`;
}

/** The configured description of a server's tool. */
export function writtenDescription(config: ChildConfig): string | undefined {
  const { switchboardDescription, suiteDescription, notedDescription } = config;
  return switchboardDescription ?? suiteDescription ?? notedDescription;
}

/** Reads a suite call's arguments. Errors tell the model how to fix them. */
export function parseSuiteAction(toolName: string, args: Verbatim): SuiteAction {
  const { action, subtool, verbosity } = args.value as Record<string, unknown>;
  if (action === 'introspect') {
    return {
      action,
      subtool: typeof subtool === 'string' && subtool !== '' ? subtool : undefined,
      verbosity: parseVerbosity(verbosity),
    };
  }
  if (action === 'call') {
    if (typeof subtool === 'string' && subtool !== '') {
      return { action, subtool, args: parseSubtoolArgs(args.member('args'), subtool) };
    }
    throw new SwitchboardError(
      'TOOL_ARGUMENTS',
      `Missing required parameter: subtool (for ${toolName}).`,
      { hint: 'List the subtools first: {"action": "introspect"}.' },
    );
  }
  const given = action === undefined ? 'needs an action' : `has no action ${inShort(action)}`;
  throw new SwitchboardError('TOOL_ARGUMENTS', `${toolName} ${given}.`, {
    hint: `Valid actions: 'introspect' (list the subtools), 'call' (run one, with "subtool" and "args").`,
  });
}

function parseVerbosity(verbosity: unknown): Introspection['mode'] | undefined {
  if (verbosity === undefined) return undefined;
  const known = VERBOSITIES.find((mode) => mode === verbosity);
  if (known) return known;
  throw new SwitchboardError('TOOL_ARGUMENTS', `Unknown verbosity: ${inShort(verbosity)}.`, {
    hint: `Use one of: ${VERBOSITIES.join(', ')}.`,
  });
}

/** The subtool's arguments as the host wrote them; some models write them as JSON in a string. */
function parseSubtoolArgs(args: Verbatim | undefined, subtool: string): Verbatim {
  if (args === undefined || args.value === null) return Verbatim.of({});
  if (isObject(args.value)) return args;
  const parsed = typeof args.value === 'string' ? parseObject(args.value) : undefined;
  if (parsed) return parsed;
  throw new SwitchboardError(
    'TOOL_ARGUMENTS',
    `"args" for subtool "${subtool}" must be an object.`,
    {
      hint: `{"action": "introspect", "subtool": "${subtool}"} shows its parameters.`,
    },
  );
}

function parseObject(text: string): Verbatim | undefined {
  try {
    const parsed = Verbatim.parse(text);
    return isObject(parsed.value) ? parsed : undefined;
  } catch {
    return undefined; // the caller reports what was expected
  }
}

function inShort(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}
