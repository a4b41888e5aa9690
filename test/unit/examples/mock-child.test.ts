// The mock child run alone, as its README tells people to: both framings, and what it answers.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const INDEX = 'examples/mock-child/index.mjs';

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: string };
}

interface Answer {
  readonly id: number;
  readonly result?: { readonly protocolVersion?: string; readonly tools?: readonly Tool[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Feeds the mock child all of its input, and gives back all of its output. */
function run(input: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [INDEX], {
    input,
    encoding: 'utf8',
    timeout: 120_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

function request(id: number, method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

function framed(json: string): string {
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

function parseLines(output: string): Answer[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line): Answer => JSON.parse(line));
}

/** Reads back `Content-Length` frames; anything else between them is an error. */
function parseFrames(output: string): Answer[] {
  const answers: Answer[] = [];
  let rest = Buffer.from(output);
  while (rest.length > 0) {
    const header = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1'));
    if (header === null) throw new Error(`no header at: ${rest.toString('utf8', 0, 80)}`);
    const end = header[0].length + Number(header[1]);
    answers.push(JSON.parse(rest.toString('utf8', header[0].length, end)));
    rest = rest.subarray(end);
  }
  return answers;
}

const FRAMINGS = [
  {
    framing: 'one message on a line',
    talk: (messages: string[]) => parseLines(run(messages.map((m) => `${m}\n`).join(''))),
  },
  {
    framing: 'Content-Length headers',
    talk: (messages: string[]) => parseFrames(run(messages.map(framed).join(''))),
  },
];

describe.each(FRAMINGS)('with $framing', ({ talk }) => {
  it('a whole conversation is answered, except for the notification', () => {
    const answers = talk([
      request(1, 'initialize', { protocolVersion: '2025-06-18' }),
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      request(2, 'ping'),
      request(3, 'tools/call', { name: 'click', arguments: { selector: '#ä-✓' } }),
    ]);
    expect(answers).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'mock-child', version: '1.0.0' },
        },
      },
      { jsonrpc: '2.0', id: 2, result: {} },
      {
        jsonrpc: '2.0',
        id: 3,
        result: { ok: true, name: 'click', args: { selector: '#ä-✓' } },
      },
    ]);
  });

  it('lists the four tools, each with a schema, one with a long description', () => {
    const [answer] = talk([request(1, 'tools/list')]);
    const tools = answer?.result?.tools ?? [];
    expect(tools.map((tool) => tool.name)).toEqual(['click', 'type_text', 'navigate', 'echo']);
    expect(tools[0]?.description).toBe('Click a selector');
    expect(tools.map((tool) => tool.inputSchema.type)).toEqual(tools.map(() => 'object'));
    expect(Math.max(...tools.map((tool) => tool.description.length))).toBeGreaterThan(300);
  });

  it('an unknown method is an error', () => {
    expect(talk([request(7, 'foo/bar')])).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found: foo/bar' } },
    ]);
  });
});

it('an unknown revision is answered with the oldest one', () => {
  const [answer] = parseLines(
    run(request(1, 'initialize', { protocolVersion: '1999-01-01' })), // and no newline at the end
  );
  expect(answer?.result?.protocolVersion).toBe('2024-11-05');
});

it('the framing may change from message to message', () => {
  const output = run(`${request(1, 'ping')}\n${framed(request(2, 'ping'))}`);
  const line = '{"jsonrpc":"2.0","id":1,"result":{}}\n';
  expect(output).toBe(line + framed('{"jsonrpc":"2.0","id":2,"result":{}}'));
});

it('a line that is not JSON is an error, and the next one is answered', () => {
  expect(parseLines(run(`nonsense\n${request(1, 'ping')}\n`))).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
    { jsonrpc: '2.0', id: 1, result: {} },
  ]);
});

describe('the commands of its README', () => {
  const readme = readFileSync('examples/mock-child/README.md', 'utf8');
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  const alone = blocks.filter((block) => block.includes('| node examples/mock-child/index.mjs'));

  it('are three that run it directly', () => {
    expect(alone).toHaveLength(3);
  });

  it.each(alone)('work when pasted: %s', (block) => {
    const { status, stdout } = spawnSync('bash', ['-euo', 'pipefail', '-c', block], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/"jsonrpc":"2.0","id":\d,"result":/);
  });
});
