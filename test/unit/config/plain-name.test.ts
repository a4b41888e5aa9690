import { expect, test } from 'vitest';
import { plainName } from '../../../src/config/server/plain-name.ts';

test.each([
  ['memory', 'memory'],
  ['Memory', 'memory'],
  ['mcp-server-memory', 'memory'],
  ['memory_mcp', 'memory'],
  ['@modelcontextprotocol/server-memory', 'memory'],
  ['sequential-thinking', 'sequentialthinking'],
  ['Sequential Thinking', 'sequentialthinking'],
  ['Äpfel & Birnen', 'äpfelbirnen'],
  // Nothing but such words is a name, too.
  ['mcp-server', 'mcpserver'],
  ['mcp', 'mcp'],
  ['', ''],
])('%j becomes %j', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});

test('words that only contain a noise word are kept', () => {
  expect(plainName('observer')).toBe('observer');
  expect(plainName('mcpflip')).toBe('mcpflip');
});
