// What something in a project would do, in lines a person can read before approving it. Hidden characters are
// named, and nothing is left out.
import { isObject } from '../../base/object.ts';
import { nameHidden } from '../../base/text.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import type { JudgedSubject } from '../../config/judge.ts';
import { describeWeakening } from './weakens.ts';

export function describeSubject({ subject, content }: JudgedSubject): string[] {
  // In the user's own files, values are often secrets.
  const shown = subject.origin === 'yours' ? withoutValues(content) : content;
  const { touches: _touches, ...others } = shown as Record<string, unknown>;
  const lines = linesOf(subject.kind, others);
  return [...(subject.touches ?? []), ...(subject.rights ?? []), ...lines].map(nameHidden);
}

function withoutValues(content: object): object {
  const entries = Object.entries(content).map(([key, value]: [string, unknown]) => {
    if (!isObject(value)) return [key, value];
    const isHidden = key === 'env' || key === 'headers';
    return [key, isHidden ? hideValues(value) : withoutValues(value)];
  });
  return Object.fromEntries(entries) as object;
}

function hideValues(values: object): object {
  const hide = (value: unknown) => (/^\$\{[^}]*\}$/.test(String(value)) ? value : '***');
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hide(value)]));
}

function linesOf(kind: string, content: Record<string, unknown>): string[] {
  if (kind === 'server') return describeServer(content);
  if (kind === 'agent-server') {
    const { cmd, args, env, cwd, url, headers, ...others } = content;
    const command = cmd === undefined ? undefined : { program: cmd, args, env };
    const remote = url === undefined ? undefined : { url, headers };
    return describeServer({ ...others, command, remote, cwd });
  }
  if (kind === 'hooks') return describeHooks(content);
  if (kind === 'runner') {
    const { program, args, cwd } = content;
    return describeServer({ command: { program, args }, cwd });
  }
  if (kind === 'settings') {
    const settings = Object.entries(content).flatMap(describeSetting);
    return [...describeWeakening(content), ...settings];
  }
  const { text } = content;
  return typeof text === 'string' ? text.split(/\r?\n/) : [JSON.stringify(content)];
}

function describeServer(content: Record<string, unknown>): string[] {
  const { command, remote, cwd, behind, invalid, isCwdGiven: _given, ...others } = content;
  const launch = isObject(command) ? command : {};
  const place = isObject(remote) ? remote : {};
  const args: unknown[] = Array.isArray(launch['args']) ? launch['args'] : [];
  const words = [launch['program'], ...args].filter((word) => typeof word === 'string');
  return [
    ...(words.length > 0
      ? [
          `runs: ${words.map(quote).join(' ')}`,
          `in: ${typeof cwd === 'string' ? cwd : '${project}'}`,
        ]
      : []),
    ...assignments('sets variable', launch['env']),
    ...(typeof place['url'] === 'string' ? [`connects to: ${place['url']}`] : []),
    ...assignments('sends header', place['headers']),
    ...(place['oauth'] === undefined ? [] : [`oauth: ${JSON.stringify(place['oauth'])}`]),
    ...variables({ command, remote, cwd }),
    ...describeModel(others['assistant']),
    ...describeWeakening({ toolChanges: others['toolChanges'], start: others['start'] }),
    ...(invalid === true ? ['is invalid; see: switchboard config check --trust all'] : []),
    ...Object.entries(others).flatMap(([key, value]) => describeKey(key, value)),
    ...(isObject(behind) ? ['behind an assistant:', ...describeServer(behind).map(indent)] : []),
  ];
}

function describeHooks({ beforeCall, afterCall }: Record<string, unknown>): string[] {
  const before = describeHookList('before', beforeCall);
  const after = describeHookList('after', afterCall);
  return [
    ...before,
    ...(before.length > 0 ? ['can read, deny, change and reroute these calls'] : []),
    ...after,
    ...(after.length > 0 ? ['can read the results of these calls, and add notes to them'] : []),
  ];
}

function describeHookList(when: string, hooks: unknown): string[] {
  const all: unknown[] = Array.isArray(hooks) ? hooks : [];
  return all.filter(isObject).flatMap((hook) => {
    const { command, args = [], tools, timeoutMs = DEFAULTS.hookMs } = hook;
    const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
    const about = Array.isArray(tools) ? tools.map((tool) => quote(String(tool))).join(', ') : '*';
    return [
      `${when} calls runs: ${words.map((word) => quote(String(word))).join(' ')}`,
      `  for tools: ${about}`,
      `  for at most: ${String(timeoutMs)} ms`,
    ];
  });
}

/** Values that every server has, and that say nothing about this one. */
const USUAL: Readonly<Record<string, string>> = {
  show: '"suite"',
  start: '"lazy"',
  environment: '"inherit"',
  framing: '"auto"',
  wrapResults: '"mcp"',
  readOnlyTool: 'false',
  toolChanges: '"scan"',
  resultSecrets: '"pass"',
  redact: '[]',
  passEnv: '[]',
  expose: '{}',
};

function describeKey(key: string, value: unknown): string[] {
  const text = JSON.stringify(value);
  return value === undefined || USUAL[key] === text ? [] : [`${key}: ${text}`];
}

function describeSetting([key, value]: [string, unknown]): string[] {
  if (key !== 'suites' || !isObject(value)) return [`${key}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(describeSuite);
}

function describeSuite([name, keys]: [string, unknown]): string[] {
  const server = JSON.stringify(name);
  const change = `changes server ${server}: ${JSON.stringify(keys)}`;
  if (!isObject(keys)) return [change];
  const model = describeModel(keys['assistant']).map(indent);
  return [...describeWeakening(keys, ` server ${server}`), change, ...model];
}

/** The provider that reads the server's results, and the user's key it gets. */
function describeModel(assistant: unknown): string[] {
  if (!isObject(assistant)) return [];
  const { baseUrl, provider, apiKeyEnv } = assistant;
  const usual = provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY';
  const variable = typeof apiKeyEnv === 'string' ? apiKeyEnv : usual;
  if (typeof baseUrl === 'string') {
    return [
      `sends your queries and the server's results to: ${baseUrl}`,
      `sends your key in ${variable} to: ${baseUrl}`,
    ];
  }
  if (typeof provider !== 'string' && typeof apiKeyEnv !== 'string') return [];
  const whom = typeof provider === 'string' ? provider : 'the provider';
  const key = typeof apiKeyEnv === 'string' ? `, with your key in ${apiKeyEnv}` : '';
  return [`sends your queries and the server's results to ${whom}${key}`];
}

function assignments(what: string, values: unknown): string[] {
  const entries = isObject(values) ? Object.entries(values) : [];
  return entries.map(([name, value]) => `${what} ${name}=${quote(String(value))}`);
}

const REFERENCE = /\$\{([^}]*)\}/g;

/** Which of the user's variables go where. */
function variables(launch: Record<string, unknown>): string[] {
  const found = new Map<string, Set<string>>();
  const search = (value: unknown, where: string): void => {
    if (typeof value === 'string') {
      for (const [, name = ''] of value.matchAll(REFERENCE)) {
        if (name === 'project') continue;
        found.set(name, (found.get(name) ?? new Set()).add(where));
      }
    } else if (Array.isArray(value)) {
      for (const item of value) search(item, where);
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) search(item, PLACES[key] ?? where);
    }
  };
  search(launch, 'the program');
  return [...found].map(
    ([name, places]) => `passes your variable ${name} to ${[...places].join(' and ')}`,
  );
}

const PLACES: Readonly<Record<string, string>> = {
  env: "the program's environment",
  args: "the program's arguments",
  url: 'the address',
  headers: 'a header',
};

function quote(word: string): string {
  return /^[\w@%+=:,./$*\\{}-]+$/.test(word) ? word : JSON.stringify(word);
}

function indent(line: string): string {
  return `  ${line}`;
}
