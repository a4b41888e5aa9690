import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

const assistantIn = async (entry: unknown, suite: unknown) => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { a: { command: 'x', assistant: entry } },
      ...(suite === undefined ? {} : { suites: { a: { assistant: suite } } }),
    },
  });
  return (await project.load()).children.get('a')?.assistant;
};

test.each([
  [false, undefined, undefined],
  [true, undefined, {}],
  [true, false, undefined],
  [false, true, {}],
  [{ model: 'm', maxRounds: 3 }, true, { model: 'm', maxRounds: 3 }],
  [{ model: 'm', maxRounds: 3 }, { model: 'n' }, { model: 'n', maxRounds: 3 }],
  [{ model: 'm' }, false, undefined],
])('%j in the server’s declaration and %j in suites', async (entry, suite, expected) => {
  expect(await assistantIn(entry, suite)).toEqual(expected);
});

test('an unknown setting disables only its server, and is reported with its location', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { a: { command: 'x', assistant: { apiKey: 'hunter2hunter2' } } },
      suites: { a: { assistant: { mode: 'chat' } } },
    },
  });
  const error = await project.problems();
  expect(error).not.toContain('hunter2');
  expect(error).toMatchInlineSnapshot(`
    "Server "a" has an invalid configuration:
    <project>/switchboard.config.json:6:9: mcpServers.a.assistant.apiKey: unknown key. Did you mean "apiKeyEnv"?
    <project>/switchboard.config.json:13:9: suites.a.assistant.mode: expected "loop" or "single", got "chat". Fix it, then run: switchboard reload"
  `);
});
