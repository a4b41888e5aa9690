// The commands on a real terminal: what they print fits it, whatever servers are called.
import { expect, test } from 'vitest';
import { columnsOf } from '../../src/cli/terminal/columns.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { testServer } from '../support/servers.ts';
import { runOnTerminal } from '../support/terminal.ts';

const COMMAND = [process.execPath, PROGRAM];

/** The lines on the screen, without what moves and colours them. */
function linesOf(screen: string): string[] {
  return (
    screen
      // oxlint-disable-next-line no-control-regex -- these are what terminals are told with
      .replaceAll(/[^\n]*\r\u001b\[K|\u001b\[[\d;]*[A-Za-z]/g, '')
      .replaceAll('\r', '')
      .split('\n')
  );
}

const WIDE_TOOLS = [
  {
    name: '予報',
    description: '明日の天気を教えます。傘が必要かどうかも分かります。'.repeat(3),
    inputSchema: {
      properties: { 都市: { enum: ['東京', '大阪', '名古屋', '札幌'] }, days: { type: 'integer' } },
    },
  },
  { name: 'a_tool_whose_name_is_longer_than_the_terminal_is_wide', inputSchema: {} },
];

function createNamedProject(): Project {
  const project = createProject();
  project.write('switchboard.config.json', {
    mcpServers: {
      天気予報: testServer('lists', JSON.stringify(WIDE_TOOLS)),
      'a-server-whose-name-nobody-wants-to-type-or-to-read': testServer('toolbox'),
      bare: {},
    },
  });
  return project;
}

test.each([
  [['show'], 40],
  [['show', '天気予報'], 40],
  [['config', 'check'], 50],
  [['assistant'], 30],
  [['tools'], 40],
  [['doctor'], 50],
  [['tools', '天気予報'], 24],
])('%j fits %i columns', async (words, columns) => {
  const { dir, env } = createNamedProject();
  const { screen } = await runOnTerminal([...COMMAND, ...words], { cwd: dir, env, columns });
  const tooWide = linesOf(screen).filter((line) => columnsOf(line) > columns);
  // Whole sentences are left to the terminal.
  expect(
    tooWide.filter((line) => !/^(Read|warning:|switchboard|configuration:|Node) /.test(line)),
  ).toEqual([]);
  expect(screen).toContain('天気予報');
});
