// More than 1,000 spellings of a denied name on every path, to a server that accepts any spelling and records what
// reaches it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createScene } from '../support/assistant.ts';
import { runSwitchboard } from '../support/command.ts';
import type { Script } from '../support/model-server-chat.ts';
import { variantsOf } from '../support/name-variants.ts';
import { createProject, type Project } from '../support/project.ts';
import { type Answer, RawHost, textOf } from '../support/raw-host.ts';
import { testServer } from '../support/servers.ts';

const USER_FILE = 'home/.switchboard/switchboard.config.json';
const TOOLS = variantsOf('delete_file');
const PROMPTS = variantsOf('secret');

interface Rules {
  /** Of the user's file, for a server with this name. */
  readonly user: (server: string) => object;
  /** Of the server. */
  readonly server: object;
}

const RULES: Record<string, Rules> = {
  'permissions.deny': {
    user: (server) => ({
      permissions: {
        deny: [`${server}__delete_file`, `${server}__secret`, `${server}__box://secret`],
      },
    }),
    server: {},
  },
  'permissions.allow': {
    user: (server) => ({
      permissions: {
        default: 'deny',
        allow: ['plain', 'greet', 'box://open'].map((name) => `${server}__${name}`),
      },
    }),
    server: {},
  },
  'expose.deny': { user: () => ({}), server: { expose: { deny: ['delete_file'] } } },
  'expose.allow': { user: () => ({}), server: { expose: { allow: ['plain'] } } },
};

const failed = (answer: Answer) => answer.error !== undefined || answer.result?.isError === true;

test('there are more than 1,000', () => {
  expect(new Set(TOOLS).size).toBeGreaterThan(1_000);
});

describe.each(Object.entries(RULES))('%s', (rule, { user, server }) => {
  function guarded(keys: object): Project & { used(): string[] } {
    const project = createProject();
    const log = join(project.dir, 'used.log');
    const box = { ...testServer('guarded', log), ...server, ...keys };
    project.write('switchboard.config.json', { mcpServers: { box } });
    project.write(USER_FILE, user('box'));
    return { ...project, used: () => usesIn(log) };
  }

  test.each(['suite', 'direct', 'flip'])('as %s', async (show) => {
    const project = guarded({ show });
    const host = await RawHost.connect(project);
    if (show === 'flip') await host.callTool('gateway_activate', { name: 'box' });
    const shown = show === 'suite' ? 'box_suite' : 'plain';
    await expect.poll(() => host.toolNames(), { timeout: 60_000 }).toContain(shown);
    const names = ['delete_file', ...TOOLS];
    const answers = [
      ...(await Promise.all(names.map((name) => host.call('box', name)))),
      ...(await Promise.all(names.map((name) => host.callTool(name)))),
      ...(await Promise.all(names.map((name) => host.callTool(`box__${name}`)))),
    ];
    expect(answers.filter((answer) => !failed(answer))).toEqual([]);
    const plain = show === 'suite' ? host.call('box', 'plain') : host.callTool('plain');
    expect(textOf(await plain)).toBe('called plain');
    expect(project.used()).toEqual(['tools/call plain']);
  });

  test.runIf(rule.startsWith('permissions'))('as prompts and resources', async () => {
    const project = guarded({});
    const host = await RawHost.connect(project);
    expect(textOf(await host.call('box', 'plain'))).toBe('called plain');
    const listed = async () => (await host.request('resources/list')).result?.['resources'];
    await expect.poll(listed, { timeout: 60_000 }).toHaveLength(1);
    const argument = { name: 'a', value: '' };
    const names = ['secret', ...PROMPTS];
    // Resources need not be listed, so other URIs are denied only if nothing else is allowed.
    const uris = names.filter((name) => rule === 'permissions.allow' || isSameName(name, 'secret'));
    expect(uris.length).toBeGreaterThan(100);
    const requests = [
      ...names.flatMap((name) => [
        host.request('prompts/get', { name }),
        host.request('completion/complete', { ref: { type: 'ref/prompt', name }, argument }),
      ]),
      ...uris.flatMap((name) => [
        host.request('resources/read', { uri: `box://${name}` }),
        host.request('resources/subscribe', { uri: `box://${name}` }),
      ]),
    ];
    const answers = await Promise.all(requests);
    const passed = answers.filter((answer) => !failed(answer));
    // A subscription to a resource that no server has is accepted, and goes nowhere.
    expect(passed.filter(({ result }) => Object.keys(result ?? {}).length > 0)).toEqual([]);
    expect((await host.request('prompts/get', { name: 'greet' })).error).toBeUndefined();
    expect(project.used()).toEqual(['tools/call plain', 'prompts/get greet']);
  });

  test('by an assistant', async () => {
    const names = ['delete_file', ...TOOLS];
    let asked: string[] = [];
    const script: Script = ({ results }) =>
      results.length > 0
        ? { text: results.map(({ text }) => text).join('\n') }
        : { calls: asked.map((name) => ({ name, args: {} })) };
    const log = join(createProject().dir, 'used.log');
    const scene = await createScene(script, () => ({ ...testServer('guarded', log), ...server }));
    scene.project.write(USER_FILE, user('kid'));
    const env = { ...scene.project.env, ...scene.env };
    const host = await RawHost.connect({ ...scene.project, env });
    for (let from = 0; from < names.length; from += 90) {
      asked = names.slice(from, from + 90);
      const answer = textOf(await host.call('kid', 'natural_language', { query: 'delete it' }));
      expect(answer.split('\n').length).toBeGreaterThanOrEqual(asked.length);
      expect(answer).not.toContain('called ');
    }
    expect(usesIn(log)).toEqual([]);
    asked = ['plain'];
    const answer = textOf(await host.call('kid', 'natural_language', { query: 'do it' }));
    expect(answer).toBe('called plain');
  });

  // Each is a process of its own, so only some of them.
  test('on the command line', async () => {
    const project = guarded({});
    const some = TOOLS.filter((name, index) => index % 60 === 0 && !name.includes('\0'));
    for (const name of ['delete_file', ...some]) {
      const { status } = await runSwitchboard(project, ['call', 'box', '--', name]);
      expect([name, status]).not.toEqual([name, 0]);
    }
    const { stdout } = await runSwitchboard(project, ['call', 'box', 'plain']);
    expect(stdout).toContain('called plain');
    expect(project.used()).toEqual(['tools/call plain']);
  });
});

/** Whether a server may take a spelling for the name. */
function isSameName(spelling: string, name: string): boolean {
  const visible = spelling.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.toLowerCase() === name;
}

/** What a server has done, without its start. */
function usesIn(log: string): string[] {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
  return lines.filter((line) => line !== 'start');
}
