import { expect, test } from 'vitest';
import { hookFor } from '../../../src/trust/hooks/match.ts';

const hook = (...tools: string[]) => ({ command: 'x', args: [], cwd: '/', tools, timeoutMs: 1 });

test.each([
  ['*', true],
  ['github', true],
  ['mcp__github', true],
  ['GitHub', true],
  ['git*', true],
  ['github__create_issue', true],
  ['github__*', true],
  ['*__delete_*', true],
  ['*b__x', true],
  ['g*b__x', true],
  ['git', false],
  ['githubs__x', false],
  ['github_x', false],
  ['other__*', false],
  ['*__other', true],
])('%s may run for a tool of server github: %s', (pattern, isFor) => {
  const hooks = { beforeCall: [hook('none')], afterCall: [hook('nobody', pattern)] };
  expect(hookFor(hooks, 'github')).toBe(isFor ? 'hooks.afterCall[0]' : undefined);
});
