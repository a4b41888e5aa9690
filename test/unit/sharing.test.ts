// Sessions that share servers' processes, with real servers: what they share, what keeps them apart, and that nothing
// of one session reaches another.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/fake-child.ts';
import { eventually, isReaped } from '../support/processes.ts';
import type { Project as Folder } from '../support/project.ts';
import { eraServer, testServer } from '../support/servers.ts';
import {
  countProcesses,
  createUser,
  type Message,
  SharedSession,
  shareProcesses,
} from '../support/shared-sessions.ts';

const BOX = testServer('toolbox');

test('ten sessions with five servers have five processes, which end with the last session', async () => {
  const names = ['one', 'two', 'three', 'four', 'five'];
  const user = createUser(Object.fromEntries(names.map((name) => [name, BOX])));
  const processes = shareProcesses();
  const sessions = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      SharedSession.open(user, processes, {
        folder: join(user.dir, index % 2 === 0 ? 'work' : 'other'),
      }),
    ),
  );
  const places = await Promise.all(
    sessions.flatMap((session) => names.map((name) => session.whereIs(name))),
  );
  const pids = new Set(places.map(({ pid }) => pid));
  expect(pids.size).toBe(5);
  expect(countProcesses(processes)).toBe(5);
  const { children } = sessions[0]?.project.switchboard.facts ?? {};
  expect(children?.map(({ sessions }) => sessions)).toEqual([10, 10, 10, 10, 10]);

  const [last, ...others] = sessions;
  await Promise.all(others.map((session) => session.close()));
  for (const name of names) expect(pids).toContain((await last?.whereIs(name))?.pid);
  expect(last?.project.switchboard.facts.children[0]?.sessions).toBeUndefined();
  await last?.close();
  expect([...pids].filter((pid) => !isReaped(pid))).toEqual([]);
  expect(sessions.flatMap(({ logged }) => logged)).toEqual([]);
});

test('share: project and share: session keep sessions apart', async () => {
  const user = createUser({
    everywhere: BOX,
    here: { ...BOX, share: 'project' },
    mine: { ...BOX, share: 'session' },
  });
  const processes = shareProcesses();
  const folders = ['work', 'work', 'other'].map((name) => join(user.dir, name));
  const sessions = await Promise.all(
    folders.map((folder) => SharedSession.open(user, processes, { folder })),
  );
  const pidsOf = async (name: string) => {
    const places = await Promise.all(sessions.map((session) => session.whereIs(name)));
    return places.map(({ pid }) => pid);
  };
  expect(new Set(await pidsOf('everywhere')).size).toBe(1);
  const [first, second, third] = await pidsOf('here');
  expect([first === second, first === third]).toEqual([true, false]);
  expect(new Set(await pidsOf('mine')).size).toBe(3);
});

/** Recorded on real hosts: 20 variables were set in the terminal. */
function recordedEnvironments({ dir, env: { PATH = '' } }: Folder) {
  const base = {
    HOME: join(dir, 'home'),
    LANG: 'C.UTF-8',
    PATH,
    SHELL: '/bin/bash',
    TERM: 'xterm-256color',
    TMPDIR: '/tmp',
    USER: 'ann',
  };
  const kept = { LOGNAME: 'ann', AWS_PROFILE: 'work', KUBECONFIG: '/home/ann/.kube/config' };
  const dropped = {
    GITHUB_TOKEN: 'ghp_of_ann',
    SSH_AUTH_SOCK: '/run/user/1000/agent',
    GIT_AUTHOR_NAME: 'Ann',
  };
  const session = (number: number) => ({
    PWD: join(dir, 'work'),
    SHLVL: String(number),
    TERM_SESSION_ID: `w0t${number}`,
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_SESSION_ID: `session-${number}`,
    CLAUDE_CODE_MESSAGING_SOCKET: `/tmp/claude-${number}.sock`,
    CLAUDE_CODE_MESSAGING_TOKEN: `messaging-${number}`,
    CLAUDE_PROJECT_DIR: join(dir, number % 2 === 0 ? 'work' : 'other'),
    ANTHROPIC_API_KEY: 'sk-ant-of-ann',
  });
  return {
    codex: base,
    claude: session,
    claudeEnv: (number: number) => ({ ...base, ...kept, ...dropped, ...session(number) }),
    gemini: { ...base, ...kept, GEMINI_CLI: '1', PWD: join(dir, 'work') },
  };
}

describe('the environments of Claude Code, Codex and Gemini', () => {
  async function openHosts(entry: object, login?: NodeJS.ProcessEnv) {
    const user = createUser({ box: { ...BOX, ...entry } });
    const recorded = recordedEnvironments(user);
    const processes = shareProcesses({ readLogin: async () => login ?? {} });
    const open = (env: Record<string, string>) => SharedSession.open(user, processes, { env });
    const hosts = {
      claude: await open(recorded.claudeEnv(1)),
      claude2: await open(recorded.claudeEnv(2)),
      codex: await open(recorded.codex),
      gemini: await open(recorded.gemini),
    };
    const places = {
      claude: await hosts.claude.whereIs('box'),
      claude2: await hosts.claude2.whereIs('box'),
      codex: await hosts.codex.whereIs('box'),
      gemini: await hosts.gemini.whereIs('box'),
    };
    return { hosts, places, processes, recorded };
  }

  test('sessions of one host share, and each host has its own process', async () => {
    const { hosts, places, processes } = await openHosts({});
    expect(places.claude.pid).toBe(places.claude2.pid);
    expect(countProcesses(processes)).toBe(3);
    expect(places.claude.env).toMatchObject({
      GITHUB_TOKEN: 'ghp_of_ann',
      AWS_PROFILE: 'work',
      ANTHROPIC_API_KEY: 'sk-ant-of-ann',
    });
    expect(places.gemini.env).toMatchObject({ AWS_PROFILE: 'work' });
    for (const { env } of [places.gemini, places.codex]) {
      expect(Object.keys(env).filter((name) => /TOKEN|SSH|ANTHROPIC/.test(name))).toEqual([]);
    }
    const { apart } = hosts.codex.project.switchboard.facts.children[0] ?? {};
    expect(apart).toEqual(
      'ANTHROPIC_API_KEY AWS_PROFILE GITHUB_TOKEN GIT_AUTHOR_NAME KUBECONFIG'.split(' '),
    );
  });

  test('no server gets a variable of one session', async () => {
    const { places, recorded } = await openHosts({});
    const ofSession = Object.keys(recorded.claude(1)).filter(
      (name) => name !== 'ANTHROPIC_API_KEY',
    );
    expect(ofSession.filter((name) => Object.hasOwn(places.claude.env, name))).toEqual([]);
    expect(JSON.stringify(places)).not.toContain('messaging-');
  });

  test('with minimal, all of them share one process, whoever starts it', async () => {
    const { places, processes } = await openHosts({ environment: 'minimal' });
    expect(countProcesses(processes)).toBe(1);
    expect(places.codex.env).not.toHaveProperty('AWS_PROFILE');
    expect(places.codex.env).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  test('with login, all of them share one process with the variables of the login shell', async () => {
    const login = { PATH: process.env['PATH'] ?? '', AWS_PROFILE: 'from the shell' };
    const { places, processes } = await openHosts({ environment: 'login' }, login);
    expect(countProcesses(processes)).toBe(1);
    expect(places.gemini.env).toMatchObject({ AWS_PROFILE: 'from the shell' });
    expect(places.gemini.env).not.toHaveProperty('GITHUB_TOKEN');
  });
});

describe("two accounts' tokens never mix", () => {
  const ways: [string, object][] = [
    ['inherited', {}],
    ['in env', { environment: 'minimal', env: { GITHUB_TOKEN: '${TOKEN}' } }],
    ['in an argument', { environment: 'minimal', args: [...BOX.args, '--token=${TOKEN}'] }],
    ['in passEnv', { environment: 'minimal', passEnv: ['TOKEN'] }],
  ];

  test.each(ways)('%s', async (_way, entry) => {
    const user = createUser({ box: { ...BOX, ...entry } });
    const processes = shareProcesses();
    const open = (token: string) =>
      SharedSession.open(user, processes, { env: { ...user.env, TOKEN: token } });
    const [ann, bob, again] = [await open('of-ann'), await open('of-bob'), await open('of-ann')];
    const whereIs = async (session: SharedSession) => session.whereIs('box');
    const places = await Promise.all([ann, bob, again].map(whereIs));
    expect(countProcesses(processes)).toBe(2);
    expect(places[0]?.pid).toBe(places[2]?.pid);
    expect(JSON.stringify(places[0])).not.toContain('of-bob');
    expect(JSON.stringify(places[1])).not.toContain('of-ann');
  });

  test('in the agent of ssh', async () => {
    const user = createUser({ box: { ...BOX, environment: 'minimal' } });
    const processes = shareProcesses();
    const open = (env: Record<string, string>) =>
      SharedSession.open(user, processes, { env: { ...user.env, ...env } });
    const [ann, bob] = [await open({ SSH_AUTH_SOCK: '/a' }), await open({ SSH_AUTH_SOCK: '/b' })];
    expect((await ann.whereIs('box')).env['SSH_AUTH_SOCK']).toBe('/a');
    expect((await bob.whereIs('box')).env['SSH_AUTH_SOCK']).toBe('/b');
  });
});

test('a crash is reported to each session once, and the next use starts one process', async () => {
  const user = createUser({ box: BOX });
  const processes = shareProcesses();
  const sessions = await Promise.all([1, 2, 3].map(() => SharedSession.open(user, processes)));
  const pids = await Promise.all(sessions.map(async (one) => (await one.whereIs('box')).pid));
  expect(new Set(pids).size).toBe(1);

  const [first, second] = sessions;
  const waiting = second?.call('box', 'wait', { ms: 60_000 });
  waiting?.catch(() => {});
  await first?.call('box', 'exit', { code: 7 }).catch(() => {});
  await expect(waiting).resolves.toContain('exited with code 7');
  await eventually(() => sessions.every(({ logged }) => logged.length > 0));
  for (const { logged } of sessions) {
    expect(logged).toEqual([expect.stringContaining('Child MCP box exited with code 7')]);
  }
  const next = await Promise.all(sessions.map(async (one) => (await one.whereIs('box')).pid));
  expect(new Set(next).size).toBe(1);
  expect(next[0]).not.toBe(pids[0]);
  expect(countProcesses(processes)).toBe(1);
});

test('a server that keeps crashing is parked for all sessions', async () => {
  const user = createUser({ box: { command: process.execPath, args: ['--eval', '0'] } });
  const processes = shareProcesses();
  const sessions = await Promise.all([1, 2, 3].map(() => SharedSession.open(user, processes)));
  const outcomes: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    for (const session of sessions) outcomes.push(await session.call('box', 'echo').catch(String));
  }
  expect(outcomes.filter((text) => text.includes('parked until')).length).toBeGreaterThanOrEqual(3);
});

test('a session that is behind holds up a server only while it works for no other', async () => {
  const journal = join(temporaryFolder(), 'journal');
  const user = createUser({ box: testServer('faulty', '--tag=x', `--journal=${journal}`) });
  const processes = shareProcesses();
  const [slow, quick] = [
    await SharedSession.open(user, processes),
    await SharedSession.open(user, processes),
  ];
  for (const session of [slow, quick]) await session.call('box', 'pid');
  const [live] = [...processes.servers()].flatMap((server) => server.live ?? []);
  const held = slow.call('box', 'hold');
  slow.setFull(true);
  expect([live?.isHeld, live?.isPaused]).toEqual([true, true]);
  // Its answer can only be read because the server is read again.
  expect(await quick.call('box', 'echo', { text: 'hello' })).toBe('hello');
  expect(live?.isPaused).toBe(true);
  slow.setFull(false);
  expect([live?.isHeld, live?.isPaused]).toEqual([false, false]);
  await quick.call('box', 'release');
  expect(await held).toBe('held');
});

test('the end of one session cuts no call of another, and cancels its own', async () => {
  const journal = join(temporaryFolder(), 'journal');
  const user = createUser({ box: testServer('faulty', '--tag=x', `--journal=${journal}`) });
  const processes = shareProcesses();
  const [stays, goes] = await Promise.all([1, 2].map(() => SharedSession.open(user, processes)));
  const notes = () => (existsSync(journal) ? readFileSync(journal, 'utf8') : '');
  const calls = () => notes().split('"hold"').length - 1;
  // The first call of a tool that may ask runs alone.
  await stays?.call('box', 'echo', { text: 'hi' });
  const held = stays?.call('box', 'hold');
  await eventually(() => calls() === 1);
  await stays?.call('box', 'release');
  expect(await held).toBe('held');

  const mine = stays?.call('box', 'hold');
  const theirs = goes?.call('box', 'hold');
  theirs?.catch(() => {});
  await eventually(() => calls() === 3);
  await goes?.close();
  await eventually(() => notes().includes('cancelled'));
  expect(countProcesses(processes)).toBe(1);
  await stays?.call('box', 'release');
  expect(await mine).toBe('held');
  expect(stays?.logged).toEqual([]);
});

describe.each(['handshake', 'both', 'modern'])('a server of the era "%s"', (era) => {
  test('serves sessions of both eras, and asks the one that called', async () => {
    const user = createUser({ box: eraServer(era) }, { timeouts: { childSpawnMs: 60_000 } });
    const processes = shareProcesses();
    const capabilities = { elicitation: {} };
    const asked: string[] = [];
    const answerAs = (name: string) => (question: Message) => {
      asked.push(`${name}: ${question.method}`);
      return { action: 'accept', content: { name } };
    };
    const ann = await SharedSession.open(user, processes, {
      capabilities,
      answer: answerAs('Ann'),
    });
    const bob = await SharedSession.open(user, processes, {
      capabilities,
      answer: answerAs('Bob'),
    });
    const modern = await SharedSession.open(user, processes, { era: 'modern', capabilities });

    const echoed = await Promise.all(
      [ann, bob, modern].map((session, index) =>
        session.call('box', 'echo', { text: `no. ${index}` }),
      ),
    );
    expect(echoed.map((text) => /no\. \d/.exec(text)?.[0])).toEqual(['no. 0', 'no. 1', 'no. 2']);
    expect(countProcesses(processes)).toBe(1);
    // From its first question on, calls of other sessions wait.
    expect(await ann.call('box', 'ask_form')).toContain('Ann');
    const [byAnn, byBob] = await Promise.all([
      ann.call('box', 'ask_form'),
      bob.call('box', 'ask_form'),
    ]);
    expect(byAnn).toContain('Ann');
    expect(byBob).toContain('Bob');
    expect(asked.toSorted()).toEqual([
      'Ann: elicitation/create',
      'Ann: elicitation/create',
      'Bob: elicitation/create',
    ]);
  });
});

describe('roots', () => {
  const roots = (uri: string) => ({
    capabilities: { roots: { listChanged: true } },
    answer: ({ method }: Message) => (method === 'roots/list' ? { roots: [{ uri }] } : undefined),
  });

  const overHttp = ({ dir }: { readonly dir: string }) => ({
    ...roots('file:///of-one-host'),
    folder: `${dir}/other`,
    isShared: true,
  });

  test('a server that asks for them is shared only between equal ones', async () => {
    const user = createUser(
      { box: eraServer('handshake') },
      { timeouts: { childSpawnMs: 60_000 } },
    );
    const processes = shareProcesses();
    const open = (uri: string) => SharedSession.open(user, processes, roots(uri));
    const [ann, bob] = [await open('file:///a'), await open('file:///b')];
    expect(await ann.call('box', 'pid')).toBe(await bob.call('box', 'pid'));

    // Now it turns out that it asks: one of them gets another process.
    expect(await bob.call('box', 'roots')).toContain('file:///b');
    expect(await ann.call('box', 'roots')).toContain('file:///a');
    expect(await bob.call('box', 'roots')).toContain('file:///b');
    expect(await ann.call('box', 'pid')).not.toBe(await bob.call('box', 'pid'));

    // Everyone who comes later is asked first.
    const [cid, dan, eve] = [
      await open('file:///c'),
      await open('file:///c'),
      await open('file:///d'),
    ];
    const pids = [cid, dan, eve].map((session) => session.call('box', 'pid'));
    const [first, second, third] = await Promise.all(pids);
    expect(first).toBe(second);
    expect(third).not.toBe(first);
    expect(await eve.call('box', 'roots')).toContain('file:///d');
  });

  test.each(['first', 'last'])(
    'hosts over HTTP that come %s work on their project, and others on their own',
    async (when) => {
      const user = createUser(
        { box: eraServer('handshake') },
        { timeouts: { childSpawnMs: 60_000 } },
      );
      const processes = shareProcesses();
      const openHttp = () => SharedSession.open(user, processes, overHttp(user));
      const openOne = () => SharedSession.open(user, processes, roots('file:///a'));
      const early = when === 'first' ? await openHttp() : await openOne();
      await early.call('box', 'pid');
      const late = when === 'first' ? await openOne() : await openHttp();
      expect(await late.call('box', 'pid')).toBe(await early.call('box', 'pid'));
      const [http, one] = when === 'first' ? [early, late] : [late, early];

      expect(await late.call('box', 'roots')).toContain(when === 'first' ? 'file:///a' : '/other');
      for (let times = 0; times < 2; times++) {
        expect(await one.call('box', 'roots')).toContain('file:///a');
        expect(await http.call('box', 'roots')).toContain(`${user.dir}/other`);
      }
      expect(await http.call('box', 'pid')).not.toBe(await one.call('box', 'pid'));
    },
  );

  test('a modern server hears those of each call', async () => {
    const user = createUser({ box: eraServer('modern') }, { timeouts: { childSpawnMs: 60_000 } });
    const processes = shareProcesses();
    const http = await SharedSession.open(user, processes, overHttp(user));
    const one = await SharedSession.open(user, processes, roots('file:///a'));
    for (let times = 0; times < 2; times++) {
      expect(await http.call('box', 'roots')).toContain(`${user.dir}/other`);
      expect(await one.call('box', 'roots')).toContain('file:///a');
    }
    expect(await http.call('box', 'pid')).toBe(await one.call('box', 'pid'));
  });
});

test('a server above its memory limit is restarted between calls, and every session is told', async () => {
  const user = createUser({ box: { ...BOX, maxMemoryMb: 100 } });
  let mb = 50;
  const processes = shareProcesses({
    measureEveryMs: 50,
    measureMemory: async (pids) => new Map(pids.map((pid) => [pid, mb << 20])),
  });
  const sessions = await Promise.all([1, 2].map(() => SharedSession.open(user, processes)));
  const pids = await Promise.all(sessions.map(async (one) => (await one.whereIs('box')).pid));
  mb = 200;
  await eventually(() => sessions.every(({ logged }) => logged.length > 0));
  mb = 50;
  for (const { logged } of sessions) {
    expect(logged).toEqual([
      'Server "box" used 200 MB of memory, more than its limit of 100 MB. It restarts the next time it\'s used.',
    ]);
  }
  const next = await Promise.all(sessions.map(async (one) => (await one.whereIs('box')).pid));
  expect(new Set([...pids, ...next]).size).toBe(2);
  expect(isReaped(pids[0] ?? 0)).toBe(true);
});

test('each session hears only of the resources it watches', async () => {
  const user = createUser({ box: eraServer('handshake') }, { timeouts: { childSpawnMs: 60_000 } });
  const processes = shareProcesses();
  const [ann, bob] = [
    await SharedSession.open(user, processes),
    await SharedSession.open(user, processes),
  ];
  for (const session of [ann, bob]) await session.project.switchboard.pool.warm('box');
  const uri = 'fixture://static';
  expect((await ann.request('resources/subscribe', { uri })).error).toBeUndefined();
  const updates = ({ received }: SharedSession) =>
    received.filter(({ method }) => method === 'notifications/resources/updated').length;
  await bob.call('box', 'touch', { uri });
  await eventually(() => updates(ann) === 1);
  expect(updates(bob)).toBe(0);

  expect((await bob.request('resources/subscribe', { uri })).error).toBeUndefined();
  await ann.close();
  await bob.call('box', 'touch', { uri });
  await eventually(() => updates(bob) === 1);
});

test("a reload in one session leaves the others' processes alone", async () => {
  const user = createUser({ box: BOX });
  const processes = shareProcesses();
  const [ann, bob] = [
    await SharedSession.open(user, processes),
    await SharedSession.open(user, processes),
  ];
  const [before] = [await ann.whereIs('box'), await bob.whereIs('box')];
  user.write('home/.switchboard/switchboard.config.json', {
    mcpServers: { box: { ...BOX, cwd: '~', env: { NEW: 'value' } } },
  });
  expect(await ann.project.reload()).toMatchObject({ ok: true });
  const after = await ann.whereIs('box');
  expect(after.env['NEW']).toBe('value');
  expect(after.pid).not.toBe(before.pid);
  expect((await bob.whereIs('box')).pid).toBe(before.pid);
  await bob.project.reload();
  expect((await bob.whereIs('box')).pid).toBe(after.pid);
  await eventually(() => isReaped(before.pid));
});

test('a secret of one session stays masked in what the other one prints', async () => {
  const quiet = { ...BOX, environment: 'minimal' };
  const user = createUser({ box: { ...quiet, args: [...BOX.args, 'hunter2-secret'] } });
  const processes = shareProcesses();
  const ann = await SharedSession.open(user, processes);
  await ann.whereIs('box');
  // For this session, the same argument comes from a variable.
  user.write('home/.switchboard/switchboard.config.json', {
    mcpServers: { box: { ...quiet, cwd: '~', args: [...BOX.args, '${KEY}'] } },
  });
  const keyed = { ...user.env, KEY: 'hunter2-secret' };
  const bob = await SharedSession.open(user, processes, { env: keyed });
  await bob.call('box', 'say', { text: 'the key is hunter2-secret' });
  await eventually(() => bob.stderr.length > 0);
  expect(bob.stderr).toEqual(['box: the key is ***']);
  expect(countProcesses(processes)).toBe(1);
});

test('the audit log has the start and the end of each session’s share', async () => {
  const user = createUser({ box: BOX }, { audit: true });
  const processes = shareProcesses();
  const [ann, bob] = [
    await SharedSession.open(user, processes),
    await SharedSession.open(user, processes),
  ];
  const [{ pid }] = [await ann.whereIs('box'), await bob.whereIs('box')];
  await ann.close();
  await bob.close();
  const folder = join(user.dir, 'home/.switchboard/audit');
  const events = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const of = (type: string) => events.filter((event) => event['type'] === type);
  expect(of('start').map((event) => event['pid'])).toEqual([pid, pid]);
  // Each session writes its own file.
  const reasons = of('stop').map((event) => String(event['reason']));
  expect(reasons.toSorted()).toEqual(['exited', 'released']);
});

test('a session that has ended is not kept in memory by servers that others use', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const user = createUser({ box: BOX });
  const processes = shareProcesses();
  const startAndLeave = async () => {
    const session = await SharedSession.open(user, processes);
    await session.whereIs('box');
    const stays = await SharedSession.open(user, processes);
    await stays.whereIs('box');
    await session.close();
    return new WeakRef(session.project.switchboard);
  };
  const gone = await startAndLeave();
  await eventually(() => {
    collect();
    return gone.deref() === undefined;
  }, 10_000);
  expect(gone.deref()).toBeUndefined();
  expect(countProcesses(processes)).toBe(1);
});
