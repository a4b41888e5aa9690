// When an assistant pays off: the tokens a host's model has to read and write for a task, with the server
// as a suite and with an assistant in front of it, and the tokens the assistant's own model uses.
//
//   npm run bench:assistant
//
// The server is the published filesystem server on packages of this repository, whose versions the lock
// file pins, so the results are real and the same everywhere except for the length of paths. The model is
// a script on loopback that makes the calls a good model would make and gives the same answer both times;
// its requests are counted as they arrive (o200k_base). A host's model reads its context again in every
// later turn: that isn't counted, and would add to the savings.
import { realpathSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, type Program } from './bench/client.ts';
import { countTextTokens } from './bench/count.ts';
import { BUILT_PROGRAM, realServer, Workspace } from './bench/workspace.ts';

const PACKAGES = realpathSync(fileURLToPath(new URL('../node_modules', import.meta.url)));
const inPackages = (path: string): string => join(PACKAGES, path);

interface Task {
  readonly name: string;
  readonly query: string;
  /** The calls that lead to the answer, in order. */
  readonly calls: readonly { readonly name: string; readonly args: object }[];
  readonly answer: string;
}

const read = (path: string) => ({ name: 'read_text_file', args: { path: inPackages(path) } });

const TASKS: readonly Task[] = [
  {
    name: 'one short file',
    query: 'Which Node version does the package ws ask for?',
    calls: [read('ws/package.json')],
    answer: 'The package ws asks for Node 10 or newer (engines.node is ">=10.0.0").',
  },
  {
    name: 'the tree of a package',
    query: 'Which files of zod are about locales, and how are they named?',
    calls: [{ name: 'directory_tree', args: { path: inPackages('zod') } }],
    answer:
      'Each language has a file of its own in v4/locales, named after its code (en.js, de.js, ja.js …), with a .cjs and two files of types beside it; index.js in the same folder exports all of them.',
  },
  {
    name: 'three documents',
    query: 'How do the parsers say where in a text a mistake is?',
    calls: [read('smol-toml/README.md'), read('jsonc-parser/README.md'), read('ajv/README.md')],
    answer:
      'smol-toml throws a TomlError with line, column and a code block. jsonc-parser collects errors with offset and length. Ajv checks values, not texts: its errors have an instancePath.',
  },
  {
    name: 'a search and six files',
    query: 'What happens in ws when a frame is longer than the limit?',
    calls: [
      { name: 'search_files', args: { path: inPackages('ws'), pattern: '**/*.js' } },
      ...['receiver', 'sender', 'websocket', 'websocket-server', 'validation', 'extension'].map(
        (name) => read(`ws/lib/${name}.js`),
      ),
    ],
    answer:
      'The receiver adds up the payload lengths and, beyond maxPayload, throws a RangeError "Max payload size exceeded" with status code 1009; the socket is closed with that code and emits the error.',
  },
];

interface Cost {
  /** The tokens the host's model reads and writes. */
  readonly host: number;
  /** The tokens the assistant's model reads and writes. */
  readonly read: number;
  readonly written: number;
}

/** Through the suite: the list of subtools, then each call and its result. */
async function withoutAssistant(program: Program, { calls }: Task): Promise<number> {
  await using client = new Client(program);
  await client.shakeHands();
  const introspect = { action: 'introspect' };
  let tokens = countJson(introspect);
  tokens += countTextTokens(await client.callTool('filesystem_suite', introspect));
  for (const { name, args } of calls) {
    const call = { action: 'call', subtool: name, args };
    tokens += countJson(call) + countTextTokens(await client.callTool('filesystem_suite', call));
  }
  return tokens;
}

/** Through the assistant: the query and the answer. */
async function withAssistant(start: StartProgram, task: Task): Promise<Cost> {
  const model = await startModel(task);
  try {
    await using client = new Client(start(model.env));
    await client.shakeHands();
    const introspect = { action: 'introspect' };
    const call = { action: 'call', subtool: 'natural_language', args: { query: task.query } };
    const host =
      countJson(introspect) +
      countTextTokens(await client.callTool('filesystem_suite', introspect)) +
      countJson(call) +
      countTextTokens(await client.callTool('filesystem_suite', call));
    return { host, ...model.cost() };
  } finally {
    model.close();
  }
}

type StartProgram = (env: Record<string, string>) => Program;

/** Makes the calls of a task, one per answer, and then reports the result. */
async function startModel({ calls, answer }: Task) {
  let read = 0;
  let written = 0;
  let round = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { system, tools, messages } = JSON.parse(Buffer.concat(pieces).toString()) as Request;
      read += countJson({ system, tools, messages });
      const next = calls[round++];
      const content = next
        ? [{ type: 'tool_use', id: `use_${round}`, name: next.name, input: next.args }]
        : [{ type: 'text', text: answer }];
      written += countJson(content);
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          id: 'msg',
          type: 'message',
          role: 'assistant',
          model: 'scripted',
          content,
          stop_reason: next ? 'tool_use' : 'end_turn',
          usage: { input_tokens: 0, output_tokens: 0 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: { ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
    cost: () => ({ read, written }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Request {
  readonly system: unknown;
  readonly tools: unknown;
  readonly messages: unknown;
}

function countJson(value: unknown): number {
  return countTextTokens(JSON.stringify(value));
}

const format = (count: number): string => Math.round(count).toLocaleString('en');

using workspace = new Workspace(BUILT_PROGRAM);
const files = realServer('filesystem', PACKAGES);
const plain = workspace.switchboardWithMainFile('plain', [files]);
const spoken = workspace.switchboardWithMainFile('spoken', [{ ...files, assistant: true }]);
console.log('| task | host, suite | host, assistant | saved | model reads | model writes |');
console.log('|---|---|---|---|---|---|');
for (const task of TASKS) {
  const before = await withoutAssistant(plain, task);
  const { host, read, written } = await withAssistant(
    (env) => ({ ...spoken, env: { ...spoken.env, ...env } }),
    task,
  );
  const saved = `${Math.round(100 * (1 - host / before))} %`;
  const cells = [task.name, format(before), format(host), saved, format(read), format(written)];
  console.log(`| ${cells.join(' | ')} |`);
}
