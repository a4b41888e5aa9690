// The scripted engine, by which most tests are made, against the real one: what it says has no message and no
// member that the real one does not have.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../support/project.ts';
import { realEngine } from '../support/real-engine.ts';
import { SCRIPTED_CODEX } from '../support/scripted-engine.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Part {
  readonly cmd: string;
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly instructions?: string;
  /** Called off when the first step has begun. */
  readonly interrupts?: boolean;
}

/** One turn, with every question declined; all that the engine has sent, answers under their request's name. */
async function converse({
  cmd,
  env,
  cwd,
  instructions = '',
  interrupts,
}: Part): Promise<Message[]> {
  const engine = spawn(cmd, ['app-server'], { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void engine.kill('SIGKILL'));
  const gone = new Promise<never>((_resolve, reject) => {
    engine.once('exit', (code, signal) =>
      reject(new Error(`The engine has ended: ${code ?? signal}.`)),
    );
  });
  gone.catch(() => {}); // at the end it is meant to
  const heard: Message[] = [];
  const asked: string[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  const send = (message: object) => engine.stdin.write(`${JSON.stringify(message)}\n`);
  const request = (method: string, params: object): Promise<Message> => {
    const id = asked.push(method);
    send({ id, method, params });
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    return Promise.race([answer, gone]);
  };
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Several lines may come at once: the first step is then begun before we know the turn's id.
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  createInterface({ input: engine.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    const isAnswer = message.method === undefined;
    heard.push(
      isAnswer ? { ...message, method: `answer to ${asked[(message.id ?? 0) - 1]}` } : message,
    );
    if (isAnswer) waiting.get(message.id ?? 0)?.(message);
    else if (message.id !== undefined) send({ id: message.id, result: { decision: 'decline' } });
    if (message.method === 'turn/completed') end();
    const { type } = (message.params?.['item'] ?? {}) as { type?: string };
    if (message.method === 'item/started' && type === 'commandExecution') begin();
  });
  const clientInfo = { name: 'test', title: null, version: '0' };
  await request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
  send({ method: 'initialized' });
  await request('account/read', {});
  await request('config/read', { includeLayers: false, cwd });
  const { result } = await request('thread/start', {
    cwd,
    ephemeral: true,
    approvalPolicy: 'on-request',
    experimentalRawEvents: true,
    baseInstructions: instructions,
  });
  const { thread } = result as { thread: { id: string } };
  const input = [{ type: 'text', text: 'do it', text_elements: [] }];
  const started = await request('turn/start', { threadId: thread.id, input });
  const { turn } = started.result as { turn: { id: string } };
  if (interrupts) {
    await Promise.race([begun, gone]);
    await request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
  }
  await Promise.race([ended, gone]);
  engine.stdin.end();
  return heard;
}

/** Messages by what they are: method, and the kind of item where it is about one. */
function byKind(messages: readonly Message[]): Map<string, Message> {
  const kinds = new Map<string, Message>();
  for (const message of messages) {
    const { type } = (message.params?.['item'] ?? {}) as { type?: string };
    const { status } = (message.params?.['turn'] ?? {}) as { status?: string };
    kinds.set([message.method, type ?? status].filter(Boolean).join(' '), message);
  }
  return kinds;
}

/** Where one value has members that the other has not; texts and numbers may differ. */
function strangeMembers(scripted: unknown, real: unknown, path: string): string[] {
  if (Array.isArray(scripted)) {
    if (!Array.isArray(real)) return [path];
    return real.length === 0
      ? []
      : scripted.flatMap((one) => strangeMembers(one, real[0], `${path}[]`));
  }
  if (typeof scripted !== 'object' || scripted === null) {
    return typeof real === 'object' && real !== null && scripted !== null ? [path] : [];
  }
  if (typeof real !== 'object' || real === null) return real === null ? [] : [path];
  return Object.entries(scripted).flatMap(([key, value]) =>
    Object.hasOwn(real, key)
      ? strangeMembers(value, (real as Record<string, unknown>)[key], `${path}.${key}`)
      : [`${path}.${key}`],
  );
}

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n';
const escalated = { sandbox_permissions: 'require_escalated', justification: 'because' };

test('what the scripted engine says is what the real one says', async () => {
  const env = createProject().env;
  const real = async (script: Parameters<typeof realEngine>[0]['script'], interrupts = false) => {
    const { binary, project, cwd } = await realEngine({ script });
    return converse({ cmd: binary, env: project.env, cwd, interrupts });
  };
  const scripted = (script: string, interrupts = false) => {
    const { dir } = createProject();
    const instructions = `script: ${script}`;
    return converse({ cmd: SCRIPTED_CODEX, env, cwd: dir, instructions, interrupts });
  };
  const done = { kind: 'says', text: 'done', pieces: 2 } as const;
  const args = { cmd: 'npm test', ...escalated };
  const sleep = { cmd: 'sleep 1000', yield_time_ms: 30_000 };
  const realMessages = [
    await real([
      { kind: 'calls', tool: 'exec_command', args },
      { kind: 'patches', patch: PATCH },
      done,
    ]),
    await real([{ kind: 'fails', status: 500, message: 'no' }]),
    await real([{ kind: 'calls', tool: 'exec_command', args: sleep }], true),
  ].flat();
  const scriptedMessages = [
    await scripted('ok'),
    await scripted('refused'),
    await scripted('failed'),
    await scripted('hangs', true),
    await scripted('asks-command'),
    await scripted('asks-change'),
  ].flat();
  const known = byKind(realMessages);
  const said = byKind(scriptedMessages);
  expect([...said.keys()].filter((kind) => !known.has(kind))).toEqual([]);
  expect(
    [...said].flatMap(([kind, message]) => strangeMembers(message, known.get(kind), kind)),
  ).toEqual([]);
  // And it was compared at all.
  expect([...said.keys()].sort()).toMatchInlineSnapshot(`
    [
      "answer to account/read",
      "answer to config/read",
      "answer to initialize",
      "answer to thread/start",
      "answer to turn/interrupt",
      "answer to turn/start",
      "error",
      "item/agentMessage/delta",
      "item/commandExecution/requestApproval",
      "item/completed agentMessage",
      "item/fileChange/requestApproval",
      "item/started agentMessage",
      "item/started commandExecution",
      "item/started fileChange",
      "rawResponseItem/completed custom_tool_call",
      "rawResponseItem/completed custom_tool_call_output",
      "rawResponseItem/completed function_call",
      "rawResponseItem/completed function_call_output",
      "turn/completed completed",
      "turn/completed failed",
      "turn/completed interrupted",
      "turn/started inProgress",
    ]
  `);
});
