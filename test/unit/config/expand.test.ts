import { expect, test } from 'vitest';
import { SwitchboardError } from '../../../src/base/errors.ts';
import {
  expandCommand,
  expandRemote,
  expandVariables,
  unsetVariables,
} from '../../../src/config/server/expand.ts';
import { childConfig } from '../../support/child-config.ts';
import { createProject } from './temp-project.ts';

const ENV = { TOKEN: 's3cret', EMPTY: '' };

test.each([
  ['${TOKEN}', 's3cret'],
  ['Bearer ${env:TOKEN}!', 'Bearer s3cret!'],
  ['${TOKEN}${TOKEN}', 's3crets3cret'],
  ['${TOKEN:-x}', 's3cret'],
  ['${EMPTY}', ''],
  ['${EMPTY:-x}', 'x'],
  ['${UNSET:-x y/z:-1}', 'x y/z:-1'],
  ['${UNSET:-}', ''],
  ['${env:UNSET:-x}', 'x'],
  ['$${TOKEN}', '${TOKEN}'],
  ['$TOKEN $ $$ ${ ${} ${input:key} ${1}', '$TOKEN $ $$ ${ ${} ${input:key} ${1}'],
])('%s becomes %s', (text, expected) => {
  expect(expandVariables(text, ENV)).toBe(expected);
});

test.each(['${UNSET}', '${env:UNSET}', '${constructor}', '${__proto__}'])(
  '%s without a value is an error',
  (text) => {
    expect(() => expandVariables(text, ENV)).toThrow(/^The environment variable \w+ is not set\.$/);
  },
);

async function loadChild(entry: object) {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { a: entry } } });
  const child = (await project.load()).children.get('a');
  if (!child) throw new Error('no child');
  const explain = () => {
    try {
      return JSON.stringify(expandCommand(child, ENV));
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      return project.plain(error.text);
    }
  };
  return { child, explain };
}

test('program, arguments and environment of a command are expanded', async () => {
  const { child } = await loadChild({
    command: '${UNSET:-node}',
    args: ['--token', '${TOKEN}'],
    env: { KEY: 'k-${TOKEN}' },
  });
  expect(child.command?.env).toEqual({ KEY: 'k-${TOKEN}' });
  expect(expandCommand(child, ENV)).toEqual({
    cmd: 'node',
    args: ['--token', 's3cret'],
    env: { KEY: 'k-s3cret' },
  });
});

test('an unset variable is reported with the server, the key and the file', async () => {
  const { explain } = await loadChild({ command: 'x', env: { KEY: '${TOKEN}${UNSET}' } });
  expect(explain()).toMatchInlineSnapshot(
    `"Server "a" needs the environment variable UNSET, which is not set (env.KEY in <project>/switchboard.config.json). Set it in the environment the host starts Switchboard in, or use \${UNSET:-default}."`,
  );
});

test('a server with neither command nor url is reported', async () => {
  const { explain } = await loadChild({});
  expect(explain()).toMatchInlineSnapshot(
    `"Server "a" has neither a "command" nor a "url". Add "command" or "url" in <project>/switchboard.config.json."`,
  );
});

test('a server’s url and headers are expanded', () => {
  const remote = {
    type: 'http' as const,
    url: 'https://${HOST:-example.org}/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}' },
  };
  expect(expandRemote(childConfig({ name: 'a', remote }), ENV)).toEqual({
    type: 'http',
    url: 'https://example.org/mcp',
    headers: { Authorization: 'Bearer s3cret' },
  });
  const lacking = { ...remote, headers: { 'X-Key': '${UNSET}' } };
  expect(() => expandRemote(childConfig({ name: 'a', remote: lacking }), ENV)).toThrow(
    'Server "a" needs the environment variable UNSET, which is not set (headers.X-Key in /project/switchboard.config.json).',
  );
});

test.each([
  ['command', { command: '${input:x}' }],
  ['args[1]', { command: 'x', args: ['a', '--key=${input:x}'] }],
  ['env.KEY', { command: 'x', env: { KEY: 'Bearer ${input:x}' } }],
  ['env.KEY', { command: { cmd: 'x', env: { KEY: '${input:x}' } } }],
  ['url', { url: 'https://x/${input:x}' }],
  ['headers.Authorization', { url: 'https://x', headers: { Authorization: 'Bearer ${input:x}' } }],
  ['oauth.clientSecret', { url: 'https://x', oauth: { clientSecret: '${input:x}' } }],
])('a host placeholder in %s is rejected', async (key, entry) => {
  const { child } = await loadChild(entry);
  expect(child.problem).toMatchObject({
    code: 'CONFIG_INVALID',
    message: `Server "a" uses \${input:x}, which only the original host can expand (${key} in ${child.origin}).`,
    hint: 'Use an environment variable such as ${API_KEY} instead, and set it in the environment the host starts Switchboard in.',
  });
});

test.each(['${command:pick}', '${config:x.y}'])('so is %s', async (arg) => {
  const { child } = await loadChild({ command: 'x', args: [arg] });
  expect(child.problem?.message).toContain(`uses ${arg}, which`);
});

test('an escaped placeholder is passed through', async () => {
  const { child } = await loadChild({ command: 'x', args: ['$${input:x}', '${TOKEN}'] });
  expect(expandCommand(child, ENV).args).toEqual(['${input:x}', 's3cret']);
});

test('finds unset variables of a server', async () => {
  const { child } = await loadChild({
    command: '${TOOL}',
    args: ['${TOKEN}', '${EMPTY}', '${UNSET:-x}', '$${PLAIN}', '${env:OTHER} ${TOOL}'],
    env: { KEY: '${KEY}' },
  });
  expect(unsetVariables(child, ENV)).toEqual(['TOOL', 'OTHER', 'KEY']);
});
