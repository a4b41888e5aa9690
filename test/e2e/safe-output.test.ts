// What commands print is safe to look at, whatever servers and files call themselves: no secrets, no
// characters that a terminal acts on or that nobody sees, no rows that aren't there.
import { describe, expect, test } from 'vitest';
import { runSwitchboard } from '../support/command.ts';
import { configWith, createProject } from '../support/project.ts';
import { testServer } from '../support/servers.ts';

/** C1, bidirectional and zero-width characters, a separator, a tag, a terminal sequence. */
const HIDDEN = '\u009b31m\u202e\u200b\u2028\u{e0041}\u001b[2J';
const SHOWN = String.raw`\u009b31m\u202e\u200b\u2028\udb40\udc41\u001b[2J`;
// oxlint-disable-next-line no-control-regex, no-misleading-character-class -- finding them is the point
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u202e\u{e0041}]/u;
const NAME = `a${HIDDEN}\nok`;
const TOOL = `t${HIDDEN}\nsafe_tool`;
const SECRET = 'sk-canary-0123456789';

const says = (words: object) => ({ ...testServer('says', JSON.stringify(words)) });

function createStrange() {
  return createProject({
    ...configWith({
      [NAME]: says({
        serverInfo: { name: TOOL, version: '1\n✓ ok  9 tools' },
        tools: [
          { name: TOOL, description: 'hidden', inputSchema: { type: 'object' } },
          { name: 'plain', description: `d${HIDDEN}\n  e`, inputSchema: { type: 'object' } },
        ],
        result: { content: [{ type: 'text', text: `r${HIDDEN}` }] },
      }),
      [`bad${HIDDEN}\n✓ fine`]: { command: 'no-such-program' },
      [`off${HIDDEN}\noff: other`]: { command: 'x', disabled: true },
      [`wrong${HIDDEN}\n`]: { command: 7 },
    }),
    // Otherwise the tools would be held, and nothing of them shown.
    'home/.switchboard/switchboard.config.json': { toolChanges: 'off' },
  });
}

describe.each([
  [['tools']],
  [['show']],
  [['status']],
  [['doctor']],
  [['config', 'check']],
  [['config', 'print']],
  [['assistant']],
  [['call', NAME, TOOL]],
  [['call', NAME, 'plain']],
  [['call', NAME, 'no_such_tool']],
  [['call', `x${HIDDEN}`, 'y']],
])('%j', (args) => {
  test.each([[], ['--json']])('prints nothing hidden %j', async (...more) => {
    const { stdout, stderr } = await runSwitchboard(createStrange(), [...args, ...more]);
    expect(stdout + stderr).not.toBe('');
    expect(UNSAFE.exec(stdout)).toBeNull();
    expect(UNSAFE.exec(stderr)).toBeNull();
  });
});

test('JSON output keeps its meaning', async () => {
  const { stdout } = await runSwitchboard(createStrange(), ['tools', '--json']);
  const { children } = JSON.parse(stdout) as {
    children: { name: string; tools: { name: string }[] }[];
  };
  expect(children[0]?.name).toBe(NAME);
  expect(children[0]?.tools.map(({ name }) => name)).toEqual(['plain']);
  const call = await runSwitchboard(createStrange(), ['call', NAME, 'plain', '--json']);
  expect(call.stdout).toContain(`"r${SHOWN}"`);
  expect(JSON.parse(call.stdout)).toEqual({ content: [{ type: 'text', text: `r${HIDDEN}` }] });
});

test.each([
  [['tools'], /^ok|^✓|^\s*safe_tool|^off: other/m],
  [['show'], /^ok|^✓|^off: other/m],
  [['doctor'], /^ok|^✓ ok|^✓ fine|^\s*safe_tool|^off: other/m],
  [['config', 'check'], /^\s*ok|^\s*✓|^off: other/m],
  [['status'], /^\s*ok|^\s*✓|^off: other/m],
  [['assistant'], /^ok|^✓|^off: other/m],
])('a name with a line break takes one row in %j', async (args, fake) => {
  const { stdout } = await runSwitchboard(createStrange(), args);
  expect(stdout).not.toMatch(fake);
});

test('a multi-line failure does not look like results of other servers', async () => {
  const project = createProject(configWith({ liar: says({ refusal: 'no\n✓ good  3 tools' }) }));
  for (const command of ['doctor', 'tools']) {
    const { stdout } = await runSwitchboard(project, [command]);
    expect(stdout).toContain('✓ good');
    expect(stdout).not.toMatch(/^✓ good/m);
  }
});

test('doctor masks a server’s own text', async () => {
  const entry = {
    ...says({ serverInfo: { name: 'has $TOKEN', version: '$TOKEN' } }),
    env: { TOKEN: SECRET },
  };
  const project = createProject(configWith({ a: entry }));
  for (const more of [[], ['--json']]) {
    const { status, stdout } = await runSwitchboard(project, ['doctor', ...more]);
    expect(status).toBe(0);
    expect(stdout).toContain('has *** ***');
    expect(stdout).not.toContain(SECRET);
  }
});
