// A suite as the host sees it: the tool's name, description and input, and the reading of that
// input back into what is wanted.
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

/** What every suite takes. */
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

/** Which subtools a suite may call: all that are exposed, or those of them that only read. */
export type Access = 'all' | 'read';

export interface SuiteLook {
  readonly hints?: Hints | undefined;
  readonly access?: Access;
  /** Words by which a host finds it that does not show it at once; undefined if it should. */
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

/** Of more tools than this none is loaded at once: each would be part of every request. */
export const MOST_LOADED = 12;

/** Claude Code, which hides tools until they are searched for, shows these, and finds them by more words. */
export function alwaysLoaded(keywords: readonly string[] = []): Record<string, unknown> {
  return { 'anthropic/alwaysLoad': true, ...found(keywords) };
}

/** Claude Code finds a tool by these words; the model does not see them. */
function found(words: readonly string[]): Record<string, unknown> {
  const hint = cleanText(words.join(' ')).slice(0, 500);
  return hint === '' ? {} : { 'anthropic/searchHint': hint };
}

/** What the host's model reads: written in the configuration, or made from description or name. */
function describeSuite(config: ChildConfig): string {
  const written = writtenDescription(config);
  if (written !== undefined) return cleanText(written);
  const description = cleanText(config.description ?? '')
    .trim()
    .replace(/\.$/, '');
  const about = description || onOneLine(config.name);
  return `Use this tool for ${about}. Actions: 'introspect' | 'call'.`;
}

/** The whole description that somebody wrote for the tool of this server, highest precedence first. */
export function writtenDescription(config: ChildConfig): string | undefined {
  const { switchboardDescription, suiteDescription, notedDescription } = config;
  return switchboardDescription ?? suiteDescription ?? notedDescription;
}

/** Reads the arguments of a call of the suite. What is wrong is said so that a model can mend it. */
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
  throw new SwitchboardError('TOOL_ARGUMENTS', `There is no verbosity ${inShort(verbosity)}.`, {
    hint: `Valid ones: ${VERBOSITIES.join(', ')}.`,
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
      hint: `{"action": "introspect", "subtool": "${subtool}"} shows what it takes.`,
    },
  );
}

function parseObject(text: string): Verbatim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? new Verbatim(text, value) : undefined;
  } catch {
    return undefined; // not JSON: the caller says what was expected
  }
}

function inShort(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}
