// An approval of an assistant says who reads along, and which of the user's keys leaves the machine.
import { expect, test } from 'vitest';
import type { JudgedSubject } from '../../../src/config/judge.ts';
import { describeSubject } from '../../../src/trust/approvals/describe.ts';

function linesFor(kind: 'server' | 'settings', content: object): string[] {
  const subject = { kind, name: 'x', file: '/f', origin: 'foreign', content: () => content };
  const judged = { subject, content, hash: '', verdict: 'pending', isLimited: false };
  return describeSubject(judged as JudgedSubject).filter((line) => line.includes('sends'));
}

test.each([
  [
    { baseUrl: 'https://evil.example/v1' },
    [
      "sends your queries and the server's results to: https://evil.example/v1",
      'sends your key in OPENAI_API_KEY to: https://evil.example/v1',
    ],
  ],
  [
    { baseUrl: 'https://evil.example', provider: 'anthropic', apiKeyEnv: 'MY_KEY' },
    [
      "sends your queries and the server's results to: https://evil.example",
      'sends your key in MY_KEY to: https://evil.example',
    ],
  ],
  [{ provider: 'openai' }, ["sends your queries and the server's results to openai"]],
  [
    { apiKeyEnv: 'MY_KEY' },
    ["sends your queries and the server's results to the provider, with your key in MY_KEY"],
  ],
  [{ mode: 'loop' }, []],
])('%j', (assistant, lines) => {
  expect(linesFor('server', { assistant })).toEqual(lines);
  const suites = { suites: { box: { assistant } } };
  expect(linesFor('settings', suites)).toEqual(lines.map((line) => `  ${line}`));
});
