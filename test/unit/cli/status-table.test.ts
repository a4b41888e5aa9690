// The tables of `switchboard status` as they stand on a terminal.
import { expect, test } from 'vitest';
import {
  formatBackground,
  formatOffline,
  formatReport,
  formatSilent,
  type TableOptions,
} from '../../../src/cli/status/status-table.ts';
import type { BackgroundReport } from '../../../src/host/background-report.ts';
import type { OfflineReport } from '../../../src/host/offline-report.ts';
import type { ChildStatus, StatusReport } from '../../../src/host/status-report.ts';

/** A moment of the local clock, so that times of day read the same in every time zone. */
const NOW = new Date(2026, 2, 14, 15, 30).getTime();

const WITHOUT_COLOUR: TableOptions['style'] = (_style, text) => text;
const WITH_COLOUR: TableOptions['style'] = (style, text) => `<${style}>${text}</${style}>`;

const at = (width: number, style = WITHOUT_COLOUR): TableOptions => ({ width, now: NOW, style });

function child(some: Partial<ChildStatus> & { name: string }): ChildStatus {
  return {
    show: 'suite',
    state: 'idle',
    pid: undefined,
    memoryBytes: undefined,
    uptimeMs: undefined,
    calls: 0,
    tools: undefined,
    lastError: undefined,
    ...some,
  };
}

const REPORT: StatusReport = {
  version: '1.2.3',
  pid: 4242,
  startedAt: new Date(2026, 2, 14, 12, 3).toISOString(),
  project: '/home/ada/shop',
  files: [],
  memoryBytes: 48_200_000,
  sessions: [
    { client: 'claude-code 2.1', revision: '2025-11-25', active: ['browser'] },
    { client: 'claude-code 2.1', revision: '2025-11-25', active: [] },
    { client: undefined, revision: undefined, active: [] },
  ],
  children: [
    child({
      name: 'github',
      state: 'ready',
      pid: 4250,
      memoryBytes: 123_400_000,
      uptimeMs: 7_500_000,
      calls: 14,
      tools: 42,
    }),
    child({
      name: 'browser',
      show: 'flip',
      state: 'active',
      pid: 104_251,
      memoryBytes: 1_234_000_000,
      uptimeMs: 61_000,
      calls: 1_208,
      tools: 21,
      lastError: 'The page did not load within 30 s.',
    }),
    child({ name: 'memory', state: 'warming', show: 'direct', pid: 4252, memoryBytes: 9_940_000 }),
    child({ name: 'notes' }),
    child({
      name: 'postgres',
      state: 'error',
      calls: 1,
      tools: 3,
      lastError:
        'Child MCP postgres exited with code 1 while starting.\nIt restarts the next time it\'s used. Its last output: FATAL: password authentication failed for user "ada"',
    }),
    child({ name: 'legacy', state: 'off', show: 'off' }),
  ],
  runs: [],
};

const draw = (lines: readonly string[]) => `\n${lines.join('\n')}\n`;

test('at 80 columns', () => {
  expect(draw(formatReport(REPORT, at(80)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      server    state      shown      pid  memory  uptime  calls  tools
      github    ● ready    suite     4250  123 MB   2.1 h     14     42
      browser   ▶ active   flip    104251  1.2 GB    61 s   1208     21
        The page did not load within 30 s.
      memory    ◐ warming  direct    4252  9.9 MB
      notes     ○ idle     suite
      postgres  ✗ error    suite                               1      3
        Child MCP postgres exited with code 1 while starting. It restarts the next …
      legacy    – off      off
    "
  `);
});

test('at 120 columns', () => {
  expect(draw(formatReport(REPORT, at(120)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      server    state      shown      pid  memory  uptime  calls  tools
      github    ● ready    suite     4250  123 MB   2.1 h     14     42
      browser   ▶ active   flip    104251  1.2 GB    61 s   1208     21
        The page did not load within 30 s.
      memory    ◐ warming  direct    4252  9.9 MB
      notes     ○ idle     suite
      postgres  ✗ error    suite                               1      3
        Child MCP postgres exited with code 1 while starting. It restarts the next time it's used. Its last output: FATAL: …
      legacy    – off      off
    "
  `);
});

test('in colour', () => {
  expect(draw(formatReport(REPORT, at(80, WITH_COLOUR)))).toMatchInlineSnapshot(`
    "
    <bold>/home/ada/shop</bold>  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      <dim>server  </dim>  <dim>state    </dim>  <dim>shown </dim>  <dim>   pid</dim>  <dim>memory</dim>  <dim>uptime</dim>  <dim>calls</dim>  <dim>tools</dim>
      <bold>github  </bold>  <green>● ready  </green>  suite     4250  123 MB   2.1 h     14     42
      <bold>browser </bold>  <green>▶ active </green>  flip    104251  1.2 GB    61 s   1208     21
        <dim>The page did not load within 30 s.</dim>
      <bold>memory  </bold>  <yellow>◐ warming</yellow>  direct    4252  9.9 MB
      <bold>notes   </bold>  <dim>○ idle   </dim>  suite
      <bold>postgres</bold>  <red>✗ error  </red>  suite                               1      3
        <red>Child MCP postgres exited with code 1 while starting. It restarts the next …</red>
      <bold>legacy  </bold>  <dim>– off    </dim>  off
    "
  `);
});

test('without a terminal nothing is cut', () => {
  const lines = formatReport(REPORT, at(Infinity));
  expect(lines.join('\n')).toContain('FATAL: password authentication failed for user "ada"');
});

test.each([1, 8, 20, 40, 60, 80, 120])('no line is longer than %i columns', (width) => {
  const long = {
    ...REPORT,
    project: `/home/ada/${'very/'.repeat(20)}long`,
    children: [...REPORT.children, child({ name: 'x'.repeat(200), lastError: 'y'.repeat(500) })],
  };
  for (const line of formatReport(long, at(width))) expect(line.length).toBeLessThanOrEqual(width);
});

test('a long name and a long path are shortened', () => {
  const report = {
    ...REPORT,
    project: `/home/ada/${'projects/'.repeat(8)}shop`,
    children: [
      ...REPORT.children.slice(0, 2),
      child({ name: 'a-server-whose-name-nobody-wants-to-type-or-to-read' }),
    ],
  };
  expect(draw(formatReport(report, at(80)))).toMatchInlineSnapshot(`
    "
    …cts/projects/shop  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      server                   state     shown     pid  memory  uptime  calls  tools
      github                   ● ready   suite    4250  123 MB   2.1 h     14     42
      browser                  ▶ active  flip   104251  1.2 GB    61 s   1208     21
        The page did not load within 30 s.
      a-server-whose-name-no…  ○ idle    suite
    "
  `);
});

test('wide characters take two columns', () => {
  const children = [child({ name: '天気予報' }), child({ name: 'plain' })];
  expect(draw(formatReport({ ...REPORT, children }, at(80)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      server    state   shown
      天気予報  ○ idle  suite
      plain     ○ idle  suite
    "
  `);
});

test('a server’s text cannot control the terminal', () => {
  const children = [
    child({ name: 'a\u001b[2Jb', state: 'error', lastError: 'x\u001b]0;title\u0007\r\ny\tz' }),
  ];
  const sessions = [{ client: '\u001b[31mred', revision: undefined, active: [] }];
  const text = formatReport({ ...REPORT, children, sessions }, at(80)).join('\n');
  // oxlint-disable-next-line no-control-regex -- finding them is the point
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  expect(text).toContain('ab');
  expect(text).toContain('x y z');
});

test('a program started on another day, without a host and without servers', () => {
  const startedAt = new Date(2026, 2, 9, 8, 5).toISOString();
  const report = { ...REPORT, startedAt, sessions: [], children: [], memoryBytes: undefined };
  expect(draw(formatReport(report, at(80)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 2026-03-09 08:05, no host, alone
      No servers are configured.
    "
  `);
});

test('agent runs, with their steps and folders', () => {
  const ago = (seconds: number) => new Date(NOW - seconds * 1_000).toISOString();
  const running = { state: 'running', before: undefined } as const;
  const runs: StatusReport['runs'] = [
    {
      ...running,
      agent: 'agent_review',
      cwd: '/home/ada/shop',
      since: ago(120),
      doing: 'runs: npm\u001b[31m test',
    },
    { ...running, agent: 'anth_triage', cwd: '/tmp', since: ago(4), doing: undefined },
    {
      agent: 'agent_review',
      cwd: '/home/ada/web',
      state: 'waiting',
      since: ago(40),
      before: 0,
      doing: undefined,
    },
  ];
  const report = { ...REPORT, sessions: [], children: [], runs };
  expect(draw(formatReport(report, at(60)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 12:03, no host, alone, 48 MB
      No servers are configured.
      agent         state        for  ahead
      agent_review  ● running  2 min
        /home/ada/shop: runs: npm test
      anth_triage   ● running    4 s
        /tmp
      agent_review  ○ queued    40 s      0
        /home/ada/web
    "
  `);
});

test('a program that does not answer', () => {
  const program = { pid: 77, project: '/home/ada/web', problem: 'not responding' };
  expect(draw(formatSilent(program, at(80)))).toMatchInlineSnapshot(`
    "
    /home/ada/web  pid 77: not responding
    "
  `);
});

test('servers that are not running', () => {
  const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();
  const report: OfflineReport = {
    project: '/home/ada/shop',
    files: [],
    children: [
      { ...child({ name: 'github', tools: 42 }), listedAt: ago(3) },
      { ...child({ name: 'browser', show: 'flip', tools: 0 }), listedAt: ago(48) },
      {
        ...child({ name: 'bare', state: 'error', lastError: 'Server "bare" has no command.' }),
        listedAt: undefined,
      },
    ],
    missing: [],
  };
  expect(draw(formatOffline(report, at(80)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  as configured
      server   state    shown  tools   listed
      github   ○ idle   suite     42  3 h ago
      browser  ○ idle   flip       0  2 d ago
      bare     ✗ error  suite
        Server "bare" has no command.
    "
  `);
});

test('tools with hidden characters are named below their server', () => {
  const children = [
    child({ name: 'odd', refusedTools: [{ name: 'a\u200bb', where: 'name' }], lastError: 'Oh.' }),
  ];
  expect(formatReport({ ...REPORT, children, runs: [] }, at(80)).slice(2)).toEqual([
    '  odd     ○ idle  suite',
    '    Oh.',
    '    Not listed because of hidden characters: a\\u200bb (name)',
  ]);
});

test('a shared server shows how many sessions use it, and what keeps others apart', () => {
  const children = [
    child({ name: 'box', state: 'ready', pid: 1, sessions: 3, apart: ['AWS_PROFILE'] }),
    child({ name: 'mine', state: 'ready', pid: 2 }),
  ];
  expect(draw(formatReport({ ...REPORT, children }, at(100)))).toMatchInlineSnapshot(`
    "
    /home/ada/shop  pid 4242, since 12:03, claude-code 2.1, a host, alone, 48 MB
      server  state    shown  pid  sessions
      box     ● ready  suite    1         3
        Some sessions have their own process, because AWS_PROFILE has another value there.
      mine    ● ready  suite    2
    "
  `);
});

test('a background process has its sessions and servers, and says if it takes no more', () => {
  const report: BackgroundReport = {
    version: '1.2.3',
    pid: 4242,
    startedAt: new Date(2026, 2, 14, 12, 3).toISOString(),
    memoryBytes: 61_000_000,
    isAccepting: false,
    sessions: [
      {
        client: 'claude-code',
        revision: '2025-11-25',
        active: [],
        project: '/home/ada/shop',
        startedAt: new Date(2026, 2, 14, 13, 30).toISOString(),
        entry: 77,
      },
      {
        client: undefined,
        revision: undefined,
        active: [],
        project: '/home/ada/\u001b[31msite',
        startedAt: '',
        entry: 78,
      },
    ],
    children: [
      child({ name: 'github', state: 'ready', pid: 4250, uptimeMs: 7_500_000, sessions: 2 }),
      child({ name: 'notes' }),
    ],
    runs: [],
  };
  expect(`\n${formatBackground(report, at(Infinity)).join('\n')}\n`).toMatchInlineSnapshot(`
    "
    background process  version 1.2.3, pid 4242, since 12:03, 61 MB, 2 sessions, accepts no new sessions
      session      project         age  served
      claude-code  /home/ada/shop  2 h  shared
      a host       /home/ada/site       shared
      server  state    shown   pid  uptime  sessions
      github  ● ready  suite  4250   2.1 h         2
      notes   ○ idle   suite
    "
  `);
});
