// The audit log, from the call of a host to `switchboard audit verify`.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { agentProject, runThrough, toml } from '../support/agent-project.ts';
import { runSwitchboard } from '../support/command.ts';
import { type Trial, until, withFaults } from '../support/faults.ts';
import { configWith, createProject, type Project } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';

const USER_FILE = 'home/.switchboard/switchboard.config.json';
const AUDITED = { files: { [USER_FILE]: { audit: true } } };

/** Changes a running process's limits, on Linux. */
const PRLIMIT = '/usr/bin/prlimit';

interface Entry {
  readonly type: string;
  readonly [key: string]: unknown;
}

const folderOf = ({ dir }: Project) => join(dir, 'home/.switchboard/audit');

function logsOf(project: Project): string[] {
  const folder = folderOf(project);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => join(folder, name));
}

function entriesOf(project: Project): Entry[] {
  return logsOf(project)
    .flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as Entry);
}

const callsIn = (project: Project) =>
  entriesOf(project).filter(({ type, method }) => type === 'call' && method === 'tools/call');

async function expectIntact({ project }: Pick<Trial, 'project'>): Promise<void> {
  const { status, stdout } = await runSwitchboard(project, ['audit', 'verify', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, problems: [] });
  expect(status).toBe(0);
}

test('a session leaves a line per call, and the commands show and verify them', async () => {
  const project = createProject({
    ...configWith({ kid: testServer('toolbox') }),
    ...AUDITED.files,
  });
  const host = await RawHost.connect(project, { client: 'some-host' });
  const tools = await host.introspect('kid');
  const [{ name } = { name: '' }] = (JSON.parse(textOf(tools)) as { tools: { name: string }[] })
    .tools;
  await host.call('kid', name, { note: 'a private note' });
  await host.close();

  const entries = entriesOf(project);
  expect(entries.map(({ type, method, outcome }) => [type, method ?? outcome])).toEqual([
    ['open', undefined],
    ['approval', undefined], // the project's file was trusted at first sight
    ['start', 'ok'],
    ['call', 'tools/list'],
    ['call', 'tools/call'],
    ['stop', undefined],
  ]);
  expect(entries[4]).toMatchObject({
    host: 'some-host',
    server: 'kid',
    target: name,
    arguments: { bytes: 25, shape: { note: 'string' } },
  });
  expect(readFileSync(logsOf(project)[0] ?? '', 'utf8')).not.toContain('private');

  const shown = await runSwitchboard(project, ['audit']);
  expect(shown.stdout).toContain(`kid.${name}`);
  expect(shown.stdout).not.toContain('The audit log is off.');
  const json = JSON.parse((await runSwitchboard(project, ['audit', '--json'])).stdout) as object;
  expect(json).toMatchObject({ on: true, total: 6 });

  const exported = await runSwitchboard(project, ['audit', 'export']);
  const lines = exported.stdout.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as Entry).type)).toEqual(
    entries.map(({ type }) => type),
  );
  const later = ['audit', 'export', '--since', '2999-01-01', '--json'];
  expect(JSON.parse((await runSwitchboard(project, later)).stdout)).toMatchObject({ entries: [] });

  const verified = await runSwitchboard(project, ['audit', 'verify']);
  expect(verified).toMatchObject({ status: 0, stderr: '' });
  expect(verified.stdout).toContain('1 file, 6 entries in');
});

slow('an edited line is found, and fails the command', async () => {
  const project = createProject({
    ...configWith({ kid: testServer('toolbox') }),
    ...AUDITED.files,
  });
  const host = await RawHost.connect(project);
  await host.introspect('kid');
  await host.close();
  const [file = ''] = logsOf(project);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"tools/list"', '"tools/lost"'));

  const { status, stdout } = await runSwitchboard(project, ['audit', 'verify']);

  expect(status).toBe(2);
  expect(stdout).toContain(':4: The line was edited.');
  const exported = await runSwitchboard(project, ['audit', 'export']);
  expect(exported.stderr).toBe(
    'warning: the audit log has 1 problem. Run: switchboard audit verify\n',
  );
});

test('while it is off, nothing is written, and the command says how to turn it on', async () => {
  const project = createProject(configWith({ kid: testServer('toolbox') }, { audit: true }));
  const host = await RawHost.connect(project);
  await host.introspect('kid');
  expect(await host.lastWords()).toContain('"audit" is ignored here.');
  expect(existsSync(folderOf(project))).toBe(false);

  const { stdout, status } = await runSwitchboard(project, ['audit']);

  expect(status).toBe(0);
  expect(stdout).toContain(
    `The audit log is off. To turn it on, add "audit": true to ${join(project.dir, USER_FILE)}`,
  );
});

slow('after servers crash, are killed and calls are cancelled, every call has its line', () =>
  withFaults(
    { kid: { rpcTimeoutMs: 3_000 }, other: {} },
    async (trial) => {
      const { host, project } = trial;
      const wanted = new Map<string, number>();
      const expectOutcome = (outcome: string, times = 1): void =>
        void wanted.set(outcome, (wanted.get(outcome) ?? 0) + times);
      for (let round = 0; round < 4; round++) {
        const quick = Array.from({ length: 5 }, (_, index) =>
          host.call('other', 'echo', { text: String(index) }),
        );
        expectOutcome('ok', quick.length);
        void host.call('other', 'never', {}, `cancelled-${round}`);
        expectOutcome('cancelled');
        const doomed = [host.call('kid', 'never'), host.call('kid', 'never')];
        const deadly = host.call('kid', 'crash', round % 2 === 0 ? { signal: 'SIGKILL' } : {});
        expectOutcome('error', doomed.length + 1);
        await Promise.all([...quick, ...doomed, deadly]);
        await until(
          () =>
            trial.journal('other', 'call').filter(({ tool }) => tool === 'never').length > round,
          'the call to be cancelled has come',
        );
        trial.cancel(`cancelled-${round}`);
        await host.request('ping');
      }
      await host.call('kid', 'never');
      expectOutcome('timeout');
      await until(
        () => callsIn(project).length === [...wanted.values()].reduce((sum, one) => sum + one, 0),
        'every call has a line',
      );
      const found = new Map<string, number>();
      for (const { outcome } of callsIn(project)) {
        found.set(String(outcome), (found.get(String(outcome)) ?? 0) + 1);
      }
      expect(found).toEqual(wanted);
      const stops = entriesOf(project).filter(({ type }) => type === 'stop');
      expect(stops.map(({ server, signal }) => [server, signal])).toEqual([
        ['kid', 'SIGKILL'],
        ['kid', null],
        ['kid', 'SIGKILL'],
        ['kid', null],
      ]);
      await expectIntact(trial);
    },
    AUDITED,
  ),
);

slow('a Switchboard that is killed leaves a line for each call it answered', () =>
  withFaults(
    { kid: {} },
    async (trial) => {
      const { host, project } = trial;
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => host.call('kid', 'echo', { text: `${index}` })),
      );
      host.call('kid', 'never').catch(() => {});
      await trial.end(({ process }) => process.kill('SIGKILL'));

      expect(callsIn(project)).toHaveLength(20);
      await expectIntact(trial);
      // The next one stops the servers that the killed one left.
      await (await trial.start()).call('calm', 'echo', { text: 'hello' });
      await expectIntact(trial);
    },
    AUDITED,
  ),
);

slow('what the user decides with commands has lines, without any secret', async () => {
  const project = createProject({
    ...configWith({ kid: testServer('toolbox') }, { hooks: { beforeCall: [{ command: 'x' }] } }),
    ...AUDITED.files,
  });
  const run = async (args: readonly string[], input?: string) => {
    const { status, stderr } = await runSwitchboard(project, args, input ? { input } : {});
    expect(stderr).not.toContain('audit');
    return status;
  };
  await run(['trust', 'approve', 'hooks']);
  await run(['trust', 'revoke', 'hooks']);
  await run(['trust', 'deny', 'kid']);
  await run(['secret', 'set', 'key'], 'a-very-secret-value');
  await run(['secret', 'set', 'key'], 'another-secret-value');
  await run(['secret', 'rm', 'key']);
  expect(await run(['call', 'kid', 'echo'])).not.toBe(0);

  const entries = entriesOf(project).toSorted((one, other) =>
    String(one['time']).localeCompare(String(other['time'])),
  );
  const decided = entries.filter(({ type }) => type === 'approval' || type === 'secret');
  expect(
    decided.map(({ type, decision, kind, name, by }) => [type, decision, kind, name, by]),
  ).toEqual([
    ['approval', 'approved', 'server', 'kid', 'first-sight'],
    ['approval', 'approved', 'hooks', 'hooks', 'user'],
    ['approval', 'revoked', 'hooks', 'hooks', 'user'],
    ['approval', 'denied', 'server', 'kid', 'user'],
    ['secret', 'stored', undefined, 'key', undefined],
    ['secret', 'replaced', undefined, 'key', undefined],
    ['secret', 'removed', undefined, 'key', undefined],
  ]);
  expect(decided[1]).toMatchObject({
    file: join(project.dir, 'switchboard.config.json'),
    hash: expect.stringMatching(/^sha256-1-[0-9a-f]{64}$/),
  });
  for (const file of logsOf(project)) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('secret-value');
  }
  await expectIntact({ project });
});

slow('nothing is decided if the log is required and cannot be written', async () => {
  const project = createProject({
    ...configWith({ kid: testServer('toolbox') }, { hooks: { beforeCall: [{ command: 'x' }] } }),
    [USER_FILE]: { audit: { required: true } },
    'home/.switchboard/audit': 'not a folder',
  });
  const approved = await runSwitchboard(project, ['trust', 'approve', 'hooks']);
  expect(approved.status).toBe(2);
  expect(approved.stderr).toContain("The audit log can't be written");
  const listed = await runSwitchboard(project, ['trust']);
  expect(listed.stdout).toContain('pending  hooks');
  const stored = await runSwitchboard(project, ['secret', 'set', 'key'], { input: 'value' });
  expect(stored.status).toBe(2);
});

(existsSync(PRLIMIT) ? slow : slow.skip)(
  'a full disk refuses calls while the log is required, and breaks nothing',
  () =>
    withFaults(
      { kid: {} },
      async (trial) => {
        const { host, project } = trial;
        const limit = (size: string) =>
          execFileSync(PRLIMIT, ['--pid', String(host.process.pid), `--fsize=${size}:unlimited`]);
        const echo = async (text: string) => textOf(await host.call('kid', 'echo', { text }));
        expect(await echo('before')).toBe('before');
        const size = Math.max(...logsOf(project).map((file) => statSync(file).size));
        limit(String(size + 100)); // in the middle of a line
        await echo('the last one, without a line');
        const refused = "The audit log can't be written, so no calls are allowed";
        expect(await echo('refused')).toContain(refused);
        expect(await echo('refused')).toContain(refused);
        limit('unlimited');
        expect(await echo('after')).toBe('after');
        const texts = entriesOf(project).filter(({ type }) => type === 'gap');
        expect(texts).toMatchObject([{ lost: expect.any(Number) }]);
        await expectIntact(trial);
      },
      { files: { [USER_FILE]: { audit: { required: true } } } },
    ),
);

slow('the run of an agent has a line, without its task', async () => {
  const project = agentProject({ '.agents/a.toml': toml('Aide'), ...AUDITED.files });
  const host = await RawHost.connect(project, { client: 'some-host' });
  const { ok } = await runThrough(host, 'agent_aide', { task: 'my plan', cwd: project.dir });
  expect(ok).toBe(true);

  const [file = ''] = logsOf(project);
  expect(readFileSync(file, 'utf8')).not.toContain('my plan');
  expect(entriesOf(project).at(-1)).toMatchObject({
    type: 'run',
    agent: 'agent_aide',
    host: 'some-host',
    outcome: 'ok',
    arguments: { shape: { task: 'string', cwd: 'string' } },
  });
  await expectIntact({ project });
});
