import { expect, test } from 'vitest';
import { chosenAgent } from '../../../src/cli/commands/run-agent.ts';
import { plainAgent } from '../../support/agents.ts';

const AGENTS = [
  plainAgent({ name: 'Review', safeName: 'review', toolName: 'agent_review' }),
  plainAgent({ name: 'Deep Research', safeName: 'deep_research', toolName: 'anth_deep_research' }),
];

test.each(['agent_review', 'review', 'Review'])('%s names the agent', (name) => {
  expect(chosenAgent(AGENTS, name)).toBe(AGENTS[0]);
});

test.each([
  ['revew', 'Did you mean review?'],
  ['agent_revew', 'Did you mean agent_review?'],
  ['depp_research', 'Did you mean deep_research or anth_deep_research?'],
])('%s suggests a name that can be typed: %s', (name, hint) => {
  expect(() => chosenAgent(AGENTS, name)).toThrow(
    expect.objectContaining({ code: 'AGENT_UNKNOWN', hint }),
  );
});
