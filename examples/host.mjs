// A tiny host that shows Switchboard at work without an AI. It creates a project with one server
// (examples/mock-child), starts the built program there, and sends what a real host sends: initialize,
// tools/list, then both actions of the suite. It prints and checks each answer, and exits with 1 if
// one is wrong.
//
//   npm run build && node examples/host.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const PROGRAM = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const MOCK_CHILD = fileURLToPath(new URL('./mock-child/index.mjs', import.meta.url));
const ANSWER_MS = 60_000;
const EXIT_MS = 60_000;

const wrong = [];

if (existsSync(PROGRAM)) {
  const project = await makeProject();
  try {
    await converse(project);
  } catch (error) {
    wrong.push(error.message);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
} else {
  wrong.push('dist/index.js is missing. Run `npm run build` first.');
}

for (const sentence of wrong) console.error(`✗ ${sentence}`);
if (wrong.length === 0) console.log('All checks passed.');
process.exitCode = wrong.length === 0 ? 0 : 1;

async function makeProject() {
  const project = await mkdtemp(join(tmpdir(), 'switchboard-host-'));
  await mkdir(join(project, 'mcps', 'mock'), { recursive: true });
  await writeFile(
    join(project, 'mcps', 'mock', '.mcp.json'),
    JSON.stringify({
      name: 'mock',
      description: 'pretend browser tools',
      command: { cmd: process.execPath, args: [MOCK_CHILD] },
    }),
  );
  return project;
}

async function converse(project) {
  const switchboard = start(project);
  try {
    const hello = await switchboard.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'example-host', version: '1.0.0' },
    });
    expect(
      hello.serverInfo?.name === 'switchboard',
      'initialize returns the server name `switchboard`',
    );
    switchboard.notify('notifications/initialized');

    const { tools } = await switchboard.request('tools/list');
    const names = tools?.map((tool) => tool.name);
    expect(isDeepStrictEqual(names, ['mock_suite']), 'tools/list returns only mock_suite');

    const list = await switchboard.request('tools/call', {
      name: 'mock_suite',
      arguments: { action: 'introspect' },
    });
    const click = subtoolsOf(list).find((tool) => tool.name === 'click');
    expect(click?.summary === 'Click a selector', 'introspect lists click with its summary');

    const { ok, name, args } = await switchboard.request('tools/call', {
      name: 'mock_suite',
      arguments: { action: 'call', subtool: 'click', args: { selector: '#btn' } },
    });
    expect(
      isDeepStrictEqual(
        { ok, name, args },
        { ok: true, name: 'click', args: { selector: '#btn' } },
      ),
      "call returns the server's result",
    );
  } finally {
    await switchboard.stop();
  }
}

function expect(holds, sentence) {
  console.log(`${holds ? '✓' : '✗'} ${sentence}\n`);
  if (!holds) wrong.push(`Check failed: ${sentence}.`);
}

/** The subtools in an introspect result, from its fields or from the JSON in its text. */
function subtoolsOf(result) {
  return (
    result.tools ??
    result.structuredContent?.tools ??
    JSON.parse(result.content?.[0]?.text ?? '{}').tools ??
    []
  );
}

/** Starts Switchboard in the project and talks to it with Content-Length framing. */
function start(project) {
  // Ignore the user's own configuration.
  const { WORKSPACE_DIR: _workspace, SWITCHBOARD_CONFIG: _config, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: project,
    // Alone, so that no background process is left.
    env: { ...env, SWITCHBOARD_HOME: join(project, 'home'), SWITCHBOARD_ALONE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map();
  let nextId = 1;
  let received = Buffer.alloc(0);

  child.stdin.on('error', () => {}); // The exit event has the better error.
  child.on('error', (error) => giveUp(error));
  child.on('exit', (code, signal) => giveUp(new Error(`Switchboard exited (${signal ?? code}).`)));
  child.stdout.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    try {
      for (let message = takeMessage(); message !== undefined; message = takeMessage()) {
        waiting.get(message.id)?.resolve(message);
      }
    } catch (cause) {
      const start = JSON.stringify(received.toString('utf8', 0, 80));
      giveUp(new Error(`Invalid message on stdout: ${start}`, { cause }));
    }
  });

  /** The first complete message, if there is one. */
  function takeMessage() {
    const headerEnd = received.indexOf('\r\n\r\n');
    if (headerEnd < 0) return undefined;
    const header = received.toString('latin1', 0, headerEnd);
    const bodyEnd = headerEnd + 4 + Number(/^content-length:\s*(\d+)/im.exec(header)?.[1]);
    if (received.length < bodyEnd) return undefined;
    const message = JSON.parse(received.toString('utf8', headerEnd + 4, bodyEnd));
    received = received.subarray(bodyEnd);
    return message;
  }

  function giveUp(error) {
    for (const { reject } of waiting.values()) reject(error);
  }

  function write(message) {
    const json = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  }

  return {
    notify: (method) => write({ method }),

    async request(method, params = {}) {
      const id = nextId++;
      console.log(`→ ${method} ${JSON.stringify(params.arguments ?? {})}`);
      const message = await new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        const late = () => reject(new Error(`${method} got no answer within ${ANSWER_MS} ms.`));
        setTimeout(late, ANSWER_MS).unref();
        write({ id, method, params });
      });
      waiting.delete(id);
      if (message.error) throw new Error(`${method} failed: ${JSON.stringify(message.error)}`);
      console.log(JSON.stringify(message.result, undefined, 2));
      return message.result;
    },

    /** Closes stdin, which is how a host disconnects. */
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      const kill = setTimeout(() => {
        wrong.push(`Switchboard did not exit within ${EXIT_MS} ms.`);
        child.kill('SIGKILL');
      }, EXIT_MS);
      child.stdin.end();
      await exited;
      clearTimeout(kill);
    },
  };
}
