// What of an agent's work was refused, from what the engine was seen to send.
import { describe, expect, test } from 'vitest';
import type { SandboxMode } from '../../../../src/agents/agent.ts';
import { Refusals } from '../../../../src/agents/codex/refusals.ts';

type Item = Record<string, unknown>;

const raw = (item: Item) => ['rawResponseItem/completed', item] as const;
const done = (item: Item) => ['item/completed', item] as const;

function call(cmd: string, output: unknown, more: Item = {}) {
  const args = JSON.stringify({ cmd });
  return [
    raw({ type: 'function_call', call_id: 'c', name: 'exec_command', arguments: args, ...more }),
    raw({ type: 'function_call_output', call_id: 'c', output }),
  ];
}

function custom(name: string, input: string, output: unknown) {
  return [
    raw({ type: 'custom_tool_call', call_id: 'c', name, input }),
    raw({ type: 'custom_tool_call_output', call_id: 'c', output }),
  ];
}

const ended = (code: number, output: string) =>
  `Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code ${code}\nOutput:\n${output}\n`;

const patch = (file: string) => `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch\n`;

function refusedIn(
  heard: readonly (readonly [string, Item])[],
  sandbox: SandboxMode | undefined = 'read-only',
): string[] {
  const mask = (text: string) => text.replaceAll('hush', '***');
  const refusals = new Refusals({ cwd: '/work', sandbox, mask });
  for (const [method, item] of heard) refusals.hear(method, item);
  return refusals.sentences;
}

describe('a blocked write', () => {
  test.each([
    ["touch: cannot touch 'a': Read-only file system", 1],
    ["touch: cannot touch 'a': Read-only file system", 0],
    ['/bin/bash: line 1: a.txt: Read-only file system', 1],
    ['OSError: [Errno 30] Read-only file system', 1],
    ['Error: EROFS: read-only file system', 1],
    ['open a.txt: read-only file system', 1],
    ['Read-only file system', 1],
    ['cat: a: Operation not permitted', 1],
  ])('is reported in its own words: %s', (words, code) => {
    expect(refusedIn(call('make it', ended(code, `before\n${words}, and so on\nafter`)))).toEqual([
      `The read-only sandbox blocked \`make it\`: ${words}.`,
    ]);
  });

  test.each([
    ['grep -r "Read-only file system" .', 'src/a.ts:1: const x = "Read-only file system";', 0],
    ['cat notes', 'It said Read-only file system, I think', 0],
    ['kill 1; true', 'kill: (1) - Operation not permitted', 0],
    ['./a', './a: Permission denied', 126],
    ['ls nowhere', "ls: cannot access 'nowhere': No such file or directory", 2],
  ])('is not assumed for: %s', (cmd, output, code) => {
    expect(refusedIn(call(cmd, ended(code, output)))).toEqual([]);
  });

  test('is reported once, even if both sources mention it', () => {
    const aggregatedOutput = 'touch: a: Read-only file system\n';
    const item = { type: 'commandExecution', status: 'failed', exitCode: 1, aggregatedOutput };
    const heard = [
      ...call('touch a', ended(1, aggregatedOutput)),
      done({ ...item, command: "/bin/bash -lc 'touch a'" }),
    ];
    expect(refusedIn(heard)).toHaveLength(1);
  });

  test('is not reported if it succeeded later', () => {
    const heard = [
      ...call('touch a', ended(1, 'touch: a: Read-only file system')),
      ...call('touch a', ended(0, '')),
    ];
    expect(refusedIn(heard)).toEqual([]);
  });

  test('is not the sandbox’s if there is none', () => {
    const heard = call('touch /proc/x', ended(1, 'touch: /proc/x: Read-only file system'));
    expect(refusedIn(heard, 'danger-full-access')).toEqual([]);
  });

  test('contains no secret', () => {
    const cmd = `${'x'.repeat(118)}hush > a`;
    const [sentence] = refusedIn(call(cmd, ended(1, 'hush: Read-only file system')));
    expect(sentence).not.toMatch(/h(?:u|$)/m);
    expect(sentence).toContain('***: Read-only file system.');
  });
});

test.each([
  [
    'patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings',
    'The read-only sandbox blocked changes to a.txt.',
  ],
  [
    'patch rejected: writing outside of the project; rejected by user approval settings',
    'The read-only sandbox blocked changes to a.txt.',
  ],
  ['patch rejected by user', 'Not approved: changes to a.txt.'],
])('a patch answered with "%s" is reported', (answer, sentence) => {
  expect(refusedIn(custom('apply_patch', patch('a.txt'), answer))).toEqual([sentence]);
});

test.each([
  'approval policy is Never; reject command — you cannot ask for escalated permissions',
  'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
])('a command answered with "%s" was not approved', (answer) => {
  expect(refusedIn(call('touch b', answer))).toEqual(['Not approved: `touch b`.']);
});

test('a declined action is reported by its item only', () => {
  const changes = [{ path: '/elsewhere/a.txt', kind: { type: 'add' } }];
  const heard = [
    done({ type: 'fileChange', status: 'declined', changes }),
    done({ type: 'commandExecution', status: 'declined', command: 'npm test', exitCode: null }),
  ];
  expect(refusedIn(heard, undefined)).toEqual([
    'Not approved: changes to /elsewhere/a.txt.',
    'Not approved: `npm test`.',
  ]);
});

test('a model that writes programs is judged by the program’s output', () => {
  const parts = (text: string) => [
    { type: 'input_text', text: 'Script completed\nOutput:\n' },
    { type: 'input_text', text },
  ];
  const printed = JSON.stringify({ exit_code: 1, output: 'touch: a: Read-only file system\n' });
  const rejected = 'Script error:\npatch rejected: writing is blocked by read-only sandbox';
  const heard = [
    ...custom('exec', 'text(await tools.exec_command({cmd: "touch a"}))', parts(printed)),
    ...custom('exec', `await tools.apply_patch(${JSON.stringify(patch('b'))})`, parts(rejected)),
  ];
  expect(refusedIn(heard)).toEqual([
    'The read-only sandbox blocked `text(await tools.exec_command({cmd: "touch a"}))`: touch: a: Read-only file system.',
    'The read-only sandbox blocked changes to b.',
  ]);
});

test('servers run outside the sandbox', () => {
  const heard = call('x', 'disk: Read-only file system', { namespace: 'mcp__files' });
  expect(refusedIn(heard)).toEqual([]);
});

test.each([{}, { type: 'function_call' }, { type: 'function_call_output', output: 3 }, null])(
  'unknown input is ignored: %j',
  (item) => {
    const refusals = new Refusals({ cwd: '/', sandbox: 'read-only', mask: (same) => same });
    for (const method of ['rawResponseItem/completed', 'item/completed', 'other']) {
      refusals.hear(method, item);
    }
    expect(refusals.sentences).toEqual([]);
  },
);

test('a long line without line ends is read quickly', () => {
  const line = 'read-only file system-'.repeat(200_000);
  expect(refusedIn(call('cat it', line))).toEqual([]);
});
