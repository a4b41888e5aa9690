import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

const USER = '../home/.switchboard/switchboard.config.json';
const PROJECT = 'switchboard.config.json';
const box = { command: 'box' };

async function rulesOf(files: Record<string, object>) {
  const { children } = await createProject(files).load();
  const { resultSecrets, redact } = children.get('box') ?? {};
  return { resultSecrets, redact };
}

test('by default, results pass and nothing is redacted', async () => {
  expect(await rulesOf({ [PROJECT]: { mcpServers: { box } } })).toEqual({
    resultSecrets: 'pass',
    redact: [],
  });
});

test('a server’s setting overrides the one for all servers in the same file', async () => {
  const results = { secrets: 'mask' };
  const own = { ...box, results: { secrets: 'note' } };
  expect(await rulesOf({ [USER]: { mcpServers: { box }, results } })).toMatchObject({
    resultSecrets: 'mask',
  });
  expect(await rulesOf({ [USER]: { mcpServers: { box: own }, results } })).toMatchObject({
    resultSecrets: 'note',
  });
  const suites = { box: { results: { secrets: 'pass' } } };
  expect(await rulesOf({ [USER]: { mcpServers: { box: own }, results, suites } })).toMatchObject({
    resultSecrets: 'pass',
  });
});

test('a project can be more careful than the user’s file, never less', async () => {
  const loose = { results: { secrets: 'pass' } };
  const strict = { results: { secrets: 'mask' } };
  const user = { mcpServers: { box: { ...box, ...strict } } };
  for (const project of [
    loose,
    { suites: { box: loose } },
    { mcpServers: { box: { ...box, ...loose } } },
  ]) {
    expect(await rulesOf({ [USER]: user, [PROJECT]: project })).toMatchObject({
      resultSecrets: 'mask',
    });
  }
  const careless = { mcpServers: { box: { ...box, ...loose } } };
  expect(await rulesOf({ [USER]: careless, [PROJECT]: strict })).toMatchObject({
    resultSecrets: 'mask',
  });
});

test('paths from all files apply', async () => {
  const files = {
    [USER]: { suites: { box: { redact: ['$.token', '$.pin'] } } },
    [PROJECT]: {
      mcpServers: { box: { ...box, redact: ['$.apiKey', '$.pin'] } },
      suites: { box: { redact: [] } },
    },
  };
  expect((await rulesOf(files)).redact).toEqual(['$.apiKey', '$.pin', '$.token']);
});

test.each(['apiKey', '$', '$.', '$.a b', '$[', '$.list[?(@.x)]', "$['a", '$...x'])(
  'the path %s is refused, and only that server is affected',
  async (path) => {
    const project = createProject({
      [PROJECT]: { mcpServers: { box: { ...box, redact: [path] }, other: box } },
    });
    expect(await project.problems()).toBe(
      `Server "box" has an invalid configuration: redact: ${JSON.stringify(path)} is not a supported path. ` +
        'Write it like "$.apiKey", "$.list[*].key" or "$..token". Fix it, then run: switchboard reload',
    );
  },
);
