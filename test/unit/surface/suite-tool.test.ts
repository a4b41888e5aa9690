import { expect, test } from 'vitest';
import { createSuiteTool } from '../../../src/surface/suite-tool.ts';
import { childConfig } from '../../support/child-config.ts';

const ALL = {
  switchboardDescription: 'From the child file.',
  suiteDescription: 'From suites.',
  notedDescription: 'From mcp-descriptions.json.',
  description: 'long-term memory.',
};

test.each([
  [ALL, 'From the child file.'],
  [{ ...ALL, switchboardDescription: undefined }, 'From suites.'],
  [
    { ...ALL, switchboardDescription: undefined, suiteDescription: undefined },
    'From mcp-descriptions.json.',
  ],
  [
    { description: ALL.description },
    "Use this tool for long-term memory. Actions: 'introspect' | 'call'.",
  ],
  [{}, "Use this tool for memory. Actions: 'introspect' | 'call'."],
])('description precedence: %j', (some, description) => {
  const tool = createSuiteTool('memory_suite', childConfig({ name: 'memory', ...some }));
  expect(tool['description']).toBe(description);
});

test('a suite has a readable title', () => {
  const tool = createSuiteTool('a_suite', childConfig({ name: 'my\u200b\nmemory' }));
  expect(tool['title']).toBe('my memory');
});
