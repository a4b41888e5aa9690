import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLiteralSecrets } from '../../../src/trust/secrets/literals.ts';
import { moveSecrets } from '../../../src/trust/secrets/move.ts';
import { SecretStore } from '../../../src/trust/secrets/store.ts';
import { GITHUB_TOKEN } from '../../support/tokens.ts';
import { createProject, type Project } from '../config/temp-project.ts';

const MAIN = 'switchboard.config.json';

async function literalsIn(project: Project) {
  const { children } = await project.load();
  return findLiteralSecrets(children.values());
}

const openStore = ({ homeFolder }: Project) =>
  new SecretStore({ home: join(homeFolder, '.switchboard'), env: {}, machine: 'none' });

test('finds tokens anywhere, and values whose name says they are secret', async () => {
  const project = createProject({
    [MAIN]: {
      mcpServers: {
        a: {
          command: 'x',
          args: ['--token', GITHUB_TOKEN, '--level', 'debug'],
          env: {
            API_KEY: 'abcdefgh12345',
            dbPassword: 'correct horse',
            NOTE: `see ${GITHUB_TOKEN}`,
            KEYBOARD: 'qwertyuiop',
            PUBLIC_KEY: 'abcdefgh12345',
            SSH_KEY: '/home/ann/.ssh/id',
            TOKEN_URL: 'https://example.com/token',
            SHORT_KEY: 'abc',
            GITHUB_TOKEN: '${GITHUB_TOKEN}',
            SECRET: 'op://vault/item/field',
            STORED_SECRET: '${secret:stored}',
          },
        },
        b: {
          url: 'https://example.com/mcp',
          headers: { Authorization: 'Bearer abcdefgh12345', 'X-Region': 'europe-west' },
          oauth: { clientId: 'client-id-12345', clientSecret: 'client-secret-12345' },
        },
      },
    },
  });
  const found = await literalsIn(project);
  expect(
    found.map(({ server, where, kind, isMovable }) => [server, where, kind, isMovable]),
  ).toEqual([
    ['a', 'args[1]', 'GitHub token', false],
    ['a', 'env.API_KEY', undefined, true],
    ['a', 'env.dbPassword', undefined, true],
    ['a', 'env.NOTE', 'GitHub token', true],
    ['b', 'headers.Authorization', undefined, true],
    ['b', 'oauth.clientSecret', undefined, true],
  ]);
});

test('moves them to the store, and changes nothing else in the files', async () => {
  const text = `{
  // comments stay
  "mcpServers": {
    "git hub": { "command": { "cmd": "x", "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}", "A": "b" } } },
    "web": { "url": "https://example.com", "headers": { "Authorization": "Bearer abcdefgh12345" } }, // here, too
  }
}
`;
  const own = { name: 'own', command: 'x', env: { API_KEY: 'abcdefgh12345' } };
  const project = createProject({ [MAIN]: text, 'mcps/own/.mcp.json': own });
  const store = openStore(project);
  const home = join(project.homeFolder, '.switchboard');
  const found = await literalsIn(project);

  const planned = await moveSecrets(found, { store, home, dryRun: true });
  expect(store.list()).toEqual([]);
  expect(readFileSync(join(project.folder, MAIN), 'utf8')).toBe(text);

  const { moved, backups } = await moveSecrets(found, { store, home });
  expect(moved).toEqual(planned.moved);
  expect(moved.map(({ server, where, name }) => [server, where, name])).toEqual([
    ['git hub', 'env.GITHUB_TOKEN', 'git-hub-github-token'],
    ['web', 'headers.Authorization', 'web-authorization'],
    ['own', 'env.API_KEY', 'own-api-key'],
  ]);
  expect(readFileSync(join(project.folder, MAIN), 'utf8')).toBe(
    text
      .replace(GITHUB_TOKEN, '${secret:git-hub-github-token}')
      .replace('abcdefgh12345', '${secret:web-authorization}'),
  );
  const child: unknown = JSON.parse(
    readFileSync(join(project.folder, 'mcps/own/.mcp.json'), 'utf8'),
  );
  expect(child).toEqual({ ...own, env: { API_KEY: '${secret:own-api-key}' } });
  expect(await store.get('git-hub-github-token')).toBe(GITHUB_TOKEN);
  expect(await store.get('web-authorization')).toBe('abcdefgh12345');
  expect(backups).toHaveLength(2);
  expect(await literalsIn(project)).toEqual([]);
});

test('a stored secret with the same value is used again, another one is kept', async () => {
  const server = (value: string) => ({ command: 'x', env: { API_KEY: value } });
  const project = createProject({ [MAIN]: { mcpServers: { a: server('first-value-1') } } });
  const store = openStore(project);
  const home = join(project.homeFolder, '.switchboard');
  const move = async () =>
    (await moveSecrets(await literalsIn(project), { store, home })).moved[0]?.name;
  expect(await move()).toBe('a-api-key');
  project.write(MAIN, { mcpServers: { a: server('first-value-1') } });
  expect(await move()).toBe('a-api-key');
  project.write(MAIN, { mcpServers: { a: server('other-value-2') } });
  expect(await move()).toBe('a-api-key-2');
  expect(await store.get('a-api-key')).toBe('first-value-1');
});
