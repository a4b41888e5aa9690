// The instructions for the host's model at the start of a session: how to use its tools, and which servers there
// are. Some hosts show nothing else of ours until asked, and cut long text, so the instructions are short and start
// with the most important part.
import { cleanText, onOneLine } from '../base/text.ts';
import type { ChildConfig } from '../config/config.ts';
import type { AgentTools } from './agent-tools.ts';
import { modeOf } from './modes/table.ts';
import { writtenDescription } from './suite-tool.ts';
import { summarise } from './summary.ts';

const MOST_CHARS = 2_000;
const LONGEST_LINE = 120;
const MOST_PATTERNS = 3;

const SUITES =
  'Each tool that takes an "action" represents a whole MCP server. Call it with {"action": "introspect"} ' +
  "to list the server's subtools and their parameters, then with " +
  '{"action": "call", "subtool": "<name>", "args": {...}} to run one.';

/** How to call agents in general. */
const AGENT_CALL =
  'with {"task", "cwd"}: the task in plain language, and the absolute path to the folder to work in';

export interface InstructionOptions {
  readonly children: readonly ChildConfig[];
  readonly agents: Pick<AgentTools, 'patterns' | 'suite'>;
  /** The name of a server's suite, if this host lists it. */
  readonly suiteOf: (child: ChildConfig) => string | undefined;
  /** The modes' sentences for this session. */
  readonly modes: readonly string[];
}

export function instructionsFor(options: InstructionOptions): string {
  const { children, agents, suiteOf, modes } = options;
  const parts = [
    children.some((child) => suiteOf(child) !== undefined) ? SUITES : '',
    ...modes,
    aboutAgents(agents),
  ];
  const head = parts.filter(Boolean).join(' ');
  if (children.length === 0) return head;
  const lines = children.map((child) => describe(child, suiteOf(child)));
  const room = MOST_CHARS - head.length - '\nServers:'.length;
  const whole = lines.map((line) => `\n- ${line}`).join('');
  const names = children.map(({ name }) => onOneLine(name));
  return `${head}\nServers:${whole.length <= room ? whole : fit(names, room)}`.trim();
}

/** Each agent's tool describes what it does; this covers what they have in common. */
function aboutAgents({ patterns, suite }: InstructionOptions['agents']): string {
  if (suite !== undefined) return `Call agents through ${suite}, ${AGENT_CALL}.`;
  if (patterns.length === 0) return '';
  const more = patterns.length > MOST_PATTERNS ? ' and other' : '';
  const named = patterns.slice(0, MOST_PATTERNS).join(', ');
  return `The ${named}${more} tools are agents. Call them ${AGENT_CALL}.`;
}

/** One line per server: how to use it and what for. */
function describe(config: ChildConfig, suite: string | undefined): string {
  const { name, description, derivedDescription } = config;
  const about = cleanText(writtenDescription(config) ?? description ?? derivedDescription ?? '');
  const line = `${onOneLine(name)} (${suite ?? modeOf(config).access})`;
  return summarise(about === '' ? line : `${line}: ${about}`, LONGEST_LINE, '...');
}

/** As many names as fit, and how many are missing. */
function fit(names: readonly string[], room: number): string {
  let text = ' ';
  for (const [index, name] of names.entries()) {
    const rest = `, and ${names.length - index} more`;
    const next = index === 0 ? name : `, ${name}`;
    if (text.length + next.length + rest.length > room) return `${text}${rest}`;
    text += next;
  }
  return text;
}
