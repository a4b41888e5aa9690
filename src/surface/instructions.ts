// What a host's model is told about us once, at the beginning of a session: how things are used here, and
// which servers there are. Some hosts show nothing else of us until it is asked for, and cut what is
// long, so the most important comes first and all of it stays short.
import { cleanText, onOneLine } from '../base/text.ts';
import type { ChildConfig } from '../config/config.ts';
import type { AgentTools } from './agent-tools.ts';
import { writtenDescription } from './suite-tool.ts';
import { summarise } from './summary.ts';

const MOST_CHARS = 2_000;
const LONGEST_LINE = 120;
const MOST_PATTERNS = 3;

const SUITES =
  'Each tool that takes an "action" stands for a whole MCP server. Call it with {"action": "introspect"} ' +
  "to see the server's subtools and what they take, then with " +
  '{"action": "call", "subtool": "<name>", "args": {...}} to run one.';

const SWITCHING =
  'More servers can be switched on: gateway_status lists them, gateway_activate adds the tools of one ' +
  'to your list, gateway_deactivate removes them.';

/** Where no one agent is to be named: how they are called. */
const AGENT_CALL =
  'with {"task", "cwd"}: what to do in plain words, and the folder to do it in, an absolute path';

export interface InstructionOptions {
  readonly children: readonly ChildConfig[];
  readonly agents: Pick<AgentTools, 'patterns' | 'suite'>;
  /** The name of a child's suite, if this host lists it. */
  readonly suiteOf: (child: ChildConfig) => string | undefined;
  /** Whether servers can be switched on in this host. */
  readonly canSwitch: boolean;
}

export function instructionsFor(options: InstructionOptions): string {
  const { children, agents, suiteOf, canSwitch } = options;
  const parts = [
    children.some((child) => suiteOf(child) !== undefined) ? SUITES : '',
    canSwitch ? SWITCHING : '',
    aboutAgents(agents),
  ];
  const head = parts.filter(Boolean).join(' ');
  const lines = children.map((child) => describe(child, suiteOf(child)));
  const room = MOST_CHARS - head.length - '\nServers:'.length;
  return lines.length === 0 ? head : `${head}\nServers:${fit(lines, room)}`.trim();
}

/** Each agent says in its tool's description what it is for; here stands what all have in common. */
function aboutAgents({ patterns, suite }: InstructionOptions['agents']): string {
  if (suite !== undefined) return `Call agents through ${suite}, ${AGENT_CALL}.`;
  if (patterns.length === 0) return '';
  const more = patterns.length > MOST_PATTERNS ? ' and other' : '';
  const named = patterns.slice(0, MOST_PATTERNS).join(', ');
  return `Call ${named}${more} tools, which are agents, ${AGENT_CALL}.`;
}

/** One line for a child: what it is called by and what it is for. */
function describe(config: ChildConfig, suite: string | undefined): string {
  const { name, show, description, derivedDescription } = config;
  const about = cleanText(writtenDescription(config) ?? description ?? derivedDescription ?? '');
  const called = suite ?? (show === 'direct' ? 'its own tools' : 'switch it on to use it');
  const line = `${onOneLine(name)} (${called})`;
  return summarise(about === '' ? line : `${line}: ${about}`, LONGEST_LINE, '...');
}

/** As many whole lines as there is room for; where it is short, names alone, and then what is left out. */
function fit(lines: readonly string[], room: number): string {
  const whole = lines.map((line) => `\n- ${line}`).join('');
  if (whole.length <= room) return whole;
  const short = lines.map((line) => line.split(' (')[0] ?? line);
  let text = ' ';
  for (const [index, name] of short.entries()) {
    const rest = `, and ${short.length - index} more`;
    const next = index === 0 ? name : `, ${name}`;
    if (text.length + next.length + rest.length > room) return `${text}${rest}`;
    text += next;
  }
  return text;
}
