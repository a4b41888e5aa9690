import { expect, test } from 'vitest';
import { isGateway } from '../../../src/install/servers.ts';

const NPX_CACHE = '/home/me/.npm/_npx/1a2b/node_modules/switchboard/dist/index.js';

test.each([
  [true, ['npx', '-y', 'switchboard@latest']],
  [true, ['cmd', '/c', 'npx', '-y', 'switchboard']],
  [true, ['npx', '-p', 'switchboard', 'switchboard-mcp']],
  [true, ['node', '/home/me/.claude/mcpflip/gateway.js']],
  [true, ['node', 'C:\\Users\\me\\.claude\\mcpflip\\gateway.js']],
  [false, ['npx', '-y', '@modelcontextprotocol/server-memory']],
  [false, ['npx', 'server-filesystem', '/home/me/switchboard']],
  [false, ['https://mcp.example.com/mcp']],
])('is a gateway: %s for %j', (expected, launch) => {
  expect(isGateway(launch, NPX_CACHE)).toBe(expected);
});
