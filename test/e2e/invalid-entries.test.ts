// A mistake in one server's entry: the other servers work, and everybody who looks is told.
import { expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { GATEWAY, reaches } from '../support/gateway.ts';
import { eventually } from '../support/processes.ts';
import { createProject } from '../support/project.ts';
import { RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const toolbox = testServer('toolbox');
const CONFIG = 'switchboard.config.json';
const BROKEN = {
  mcpServers: {
    ok: toolbox,
    args: { ...toolbox, args: 'a b' },
    nothing: null,
    words: 'npx -y foo',
    denied: toolbox,
  },
  suites: { denied: { expose: { denied: ['echo'] } } },
};
const NAMES = ['args', 'nothing', 'words', 'denied'];

test('the host sees all servers, and gets a clear error from the invalid ones', async () => {
  const project = createProject({ [CONFIG]: BROKEN });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(['ok', ...NAMES].map((name) => `${name}_suite`));
  expect(textOf(await host.call('ok', 'echo', { a: 1 }))).toBe('{"a":1}');
  for (const name of NAMES) {
    const answers = [await host.call(name, 'echo'), await host.introspect(name)];
    for (const { result } of answers) {
      expect(result).toMatchObject({ isError: true });
      expect(result?.content?.[0]?.text).toContain(
        `Server "${name}" has an invalid configuration:`,
      );
    }
  }
  const said = await host.lastWords();
  expect(said.replaceAll(project.dir, '<project>')).toMatchInlineSnapshot(`
    "switchboard: warn: Server "args" has an invalid configuration: <project>/switchboard.config.json:11:7: mcpServers.args.args: expected an array, got a string. Fix it, then run: switchboard reload
    switchboard: warn: Server "nothing" has an invalid configuration: <project>/switchboard.config.json:13:5: mcpServers.nothing: expected an object, got null. Fix it, then run: switchboard reload
    switchboard: warn: Server "words" has an invalid configuration: <project>/switchboard.config.json:14:5: mcpServers.words: expected an object, got a string. Fix it, then run: switchboard reload
    switchboard: warn: Server "denied" has an invalid configuration: <project>/switchboard.config.json:25:9: suites.denied.expose.denied: unknown key. Did you mean "deny"? Fix it, then run: switchboard reload
    "
  `);
});

test('servers.json: the others can be switched on, and the status names the invalid one', async () => {
  const project = createProject({
    '.switchboard/servers.json': { ok: toolbox, bad: { ...toolbox, args: 'a b' }, none: null },
  });
  const host = await RawHost.connect(project);
  expect(await host.toolNames()).toEqual(GATEWAY);
  await reaches(host, 'ok', 'ready');
  const { error } = await reaches(host, 'bad', 'error');
  expect(error).toContain('bad.args: expected an array, got a string.');
  expect((await reaches(host, 'none', 'error')).error).toContain('none: expected an object');
});

test('doctor, config check and tools name each invalid server and work for the others', async () => {
  const project = createProject({ [CONFIG]: BROKEN });
  const plain = (text: string) => text.replaceAll(project.dir, '<project>');

  const doctor = await runSwitchboard(project, ['doctor', '--json']);
  expect(doctor.status).toBe(3);
  const { children } = JSON.parse(doctor.stdout) as {
    children: { name: string; ok: boolean; error?: { code: string } }[];
  };
  expect(children.map(({ name, ok, error }) => [name, ok, error?.code])).toEqual([
    ['ok', true, undefined],
    ...NAMES.map((name) => [name, false, 'CONFIG_INVALID']),
  ]);

  const check = await runSwitchboard(project, ['config', 'check']);
  expect(check.status).toBe(2);
  expect(plain(check.stdout)).toMatchInlineSnapshot(`
    "Read <project>/switchboard.config.json.
      ok       suite   <project>/switchboard.config.json
      args     suite   <project>/switchboard.config.json
        Server "args" has an invalid configuration: <project>/switchboard.config.json:11:7: mcpServers.args.args: expected an array, got a string. Fix it, then run: switchboard reload
      nothing  suite   <project>/switchboard.config.json
        Server "nothing" has an invalid configuration: <project>/switchboard.config.json:13:5: mcpServers.nothing: expected an object, got null. Fix it, then run: switchboard reload
      words    suite   <project>/switchboard.config.json
        Server "words" has an invalid configuration: <project>/switchboard.config.json:14:5: mcpServers.words: expected an object, got a string. Fix it, then run: switchboard reload
      denied   suite   <project>/switchboard.config.json
        Server "denied" has an invalid configuration: <project>/switchboard.config.json:25:9: suites.denied.expose.denied: unknown key. Did you mean "deny"? Fix it, then run: switchboard reload
    5 servers, 4 invalid, 0 warnings.
    "
  `);
  const asJson = await runSwitchboard(project, ['config', 'check', '--json']);
  const document = JSON.parse(asJson.stdout) as { problems: { child: string; code: string }[] };
  expect(document).toMatchObject({ ok: false });
  expect(document.problems.map(({ child, code }) => [child, code])).toEqual(
    NAMES.map((name) => [name, 'CONFIG_INVALID']),
  );

  const call = await runSwitchboard(project, ['call', 'args', 'echo']);
  expect(call.status).toBe(2);
  expect(call.stderr).toContain('mcpServers.args.args: expected an array, got a string.');
  expect((await runSwitchboard(project, ['call', 'ok', 'echo', '{"a":1}'])).stdout).toBe(
    '{"a":1}\n',
  );
});

test('a reload applies valid entries and stops only the invalid server', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { ok: toolbox, bad: toolbox } } });
  const host = await RawHost.connect(project);
  const pidOf = async (name: string) =>
    (JSON.parse(textOf(await host.call(name, 'where_am_i'))) as { pid: number }).pid;
  const pid = await pidOf('ok');
  await pidOf('bad');

  project.write(CONFIG, {
    mcpServers: { ok: toolbox, bad: { ...toolbox, env: [] }, new: toolbox },
  });
  host.process.kill('SIGHUP');
  expect(await eventually(() => host.stderr.includes('reloaded the configuration'))).toBe(true);
  expect(host.stderr).toContain('mcpServers.bad.env: expected an object, got an array.');
  expect(await host.toolNames()).toEqual(['ok_suite', 'bad_suite', 'new_suite']);
  expect(await pidOf('ok')).toBe(pid);
  expect((await host.call('bad', 'echo')).result).toMatchObject({ isError: true });
});

test('show changes other servers next to an invalid one, and refuses to write to an invalid entry', async () => {
  const project = createProject({ [CONFIG]: { ...BROKEN, suites: { denied: 'flip' } } });
  expect(await runSwitchboard(project, ['show', 'ok', 'direct'])).toMatchObject({ status: 0 });
  const refused = await runSwitchboard(project, ['show', 'denied', 'direct']);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('suites.denied: expected an object, got a string.');
});
