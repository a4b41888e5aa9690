import { expect, test } from 'vitest';
import { countTextTokens, countToolTokens } from '../../../scripts/bench/count.ts';
import { createGatewayTools } from '../../../src/surface/gateway.ts';

// They are part of every message of every session that has a server to switch.
test('the three tools are small, and another server adds little more than its name', () => {
  const one = countToolTokens(createGatewayTools(['memory']));
  expect(one).toBeLessThanOrEqual(200);

  const names = Array.from({ length: 100 }, (_, index) => `server-${index}`);
  const hundred = countToolTokens(createGatewayTools(['memory', ...names]));
  const ofNames = names.reduce((sum, name) => sum + countTextTokens(name), 0);
  expect(hundred - one).toBeLessThanOrEqual(ofNames + 3 * names.length);
});

test('only the servers’ names can change them', () => {
  const [tool, ...others] = createGatewayTools(['memory', 'files']);
  const [changed, ...unchanged] = createGatewayTools(['files', 'memory', 'time']);
  expect(unchanged).toEqual(others);
  expect(changed).toEqual({
    ...tool,
    description: String(tool?.['description']).replace(
      '"memory", "files"',
      '"files", "memory", "time"',
    ),
  });
});
