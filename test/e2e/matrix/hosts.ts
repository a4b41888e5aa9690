// What the matrix needs of a host, whichever SDK and era its client has. A host writes down what
// passed its connection, since clients lose some of it (a progress that comes together with the
// answer) and hide the rest; and it answers questions by `answers`, which a test may change.
import type { Era } from './cells.ts';
import { connectV1 } from './host-v1.ts';
import { connectV2 } from './host-v2.ts';

/** How a host reaches a server: a program it starts, or an address. */
export type Launch =
  | {
      readonly command: string;
      readonly args: string[];
      readonly cwd: string;
      readonly env: Record<string, string>;
    }
  | { readonly url: string; readonly headers?: Record<string, string> };

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

type Result = Readonly<Record<string, unknown>>;

export interface Question {
  readonly mode?: string | undefined;
  readonly message?: string | undefined;
  readonly url?: string | undefined;
  readonly [key: string]: unknown;
}

interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]>;
}

interface Sampled {
  readonly role: 'assistant';
  readonly model: string;
  readonly stopReason: string;
  readonly content: { readonly type: 'text'; readonly text: string };
}

export interface Asked {
  readonly method: string;
  readonly params: Question;
}

/** What the people and the model behind a host say; `signal` ends when nobody waits any more. */
export interface Answers {
  elicit(question: Question, signal: AbortSignal): Promise<ElicitAnswer> | ElicitAnswer;
  sample(request: Result): Promise<Sampled> | Sampled;
  roots(): { uri: string; name: string }[];
}

interface CallOptions {
  readonly onProgress?: (progress: {
    readonly progress: number;
    readonly message?: string | undefined;
  }) => void;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Declared by the host. `form` alone is what hosts before 2025-11-25 have. */
export interface Capabilities {
  readonly elicitation?: { form?: Record<string, never>; url?: Record<string, never> };
  readonly sampling?: Record<string, never>;
  readonly roots?: { listChanged?: boolean };
}

export const ALL_CAPABILITIES: Capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

export interface Host {
  readonly era: Era;
  /** May be changed at any time: `host.answers.elicit = …`. */
  readonly answers: Answers;
  /** What was asked of those behind the host, in order, without `_meta`. */
  readonly asked: Asked[];
  /** Every message that came, and every one that was sent, in order. */
  readonly received: Message[];
  readonly sent: Message[];
  /** The ids of requests that nobody waits for any more. */
  readonly calledOff: ReadonlySet<unknown>;
  readonly instructions: string | undefined;
  readonly serverCapabilities: object | undefined;
  listTools(): Promise<readonly Result[]>;
  callTool(name: string, args?: object, options?: CallOptions): Promise<Result>;
  listPrompts(): Promise<readonly Result[]>;
  getPrompt(name: string, args?: Record<string, string>): Promise<Result>;
  listResources(): Promise<readonly Result[]>;
  listTemplates(): Promise<readonly Result[]>;
  readResource(uri: string): Promise<Result>;
  complete(params: Completion): Promise<Result>;
  /** In the newer era every request says it; the driver does that from now on. */
  setLogLevel(level: LogLevel): Promise<void>;
  /** Has the server tell of a resource; gives how to end that. */
  subscribe(uri: string): Promise<() => Promise<void>>;
  /** Has the server tell of changes of its lists, where that has to be asked for. */
  watchLists(): Promise<void>;
  close(): Promise<void>;
}

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

interface Completion {
  readonly ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };
  readonly argument: { name: string; value: string };
  readonly context?: { arguments: Record<string, string> };
}

export interface ConnectOptions {
  readonly capabilities?: Capabilities;
  /** The handshake revision to offer, for hosts that are older than their SDK. */
  readonly revision?: string;
}

export interface HostDriver {
  readonly name: string;
  readonly era: Era;
  connect(launch: Launch, options?: ConnectOptions): Promise<Host>;
}

export const V1: HostDriver = { name: 'SDK v1', era: 'handshake', connect: connectV1 };
export const V2_HANDSHAKE: HostDriver = {
  name: 'SDK v2 with the handshake',
  era: 'handshake',
  connect: (launch, options) => connectV2('handshake', launch, options),
};
export const V2_MODERN: HostDriver = {
  name: 'SDK v2 with 2026-07-28',
  era: 'modern',
  connect: (launch, options) => connectV2('modern', launch, options),
};
export const HOSTS: readonly HostDriver[] = [V1, V2_HANDSHAKE, V2_MODERN];

/** How long a request of a test may take, unless it says otherwise. Generous: machines are busy. */
export const REQUEST_MS = 60_000;
/** How long a test may take that waits for what does not come. */
export const TEST_MS = 180_000;

export const CLIENT_INFO = { name: 'matrix-host', version: '1.0.0' };

/** Notes a question, and gives it back. */
export function noteAsked(asked: Asked[], method: string, params: object = {}): Question {
  const { _meta, ...rest } = params as Question;
  asked.push({ method, params: rest });
  return rest;
}

/** A host that accepts everything. */
export function createAnswers(): Answers {
  return {
    elicit: ({ mode, message }) =>
      mode === 'url' ? { action: 'accept' } : { action: 'accept', content: contentFor(message) },
    sample: () => ({
      role: 'assistant',
      model: 'model-of-the-host',
      stopReason: 'endTurn',
      content: { type: 'text', text: 'hello' },
    }),
    roots: () => [{ uri: 'file:///project', name: 'project' }],
  };
}

function contentFor(signed = ''): Record<string, string> {
  const message = withoutSigner(signed);
  if (message === 'What is your name?') return { name: 'Ada' };
  if (message === 'Which color?') return { color: 'green' };
  return { value: `to ${message}` };
}

/** What a server said itself, of a question that Switchboard has put the server's name before. */
export function withoutSigner(message: string | undefined): string | undefined {
  return message?.replace(/^Server "eras" asks: /, '');
}
