// The recorded host results, and so docs/hosts.md, cover today's checks and pinned versions.
import { expect, test } from 'vitest';
import { HOSTS, readResults } from '../../scripts/hosts-doc.ts';
import { isPinned, programOf } from '../../scripts/programs/programs.ts';
import { CHECKS } from '../hosts/checks/table.ts';

const results = readResults();

test.each(HOSTS)(
  'every check has a result for the pinned $id, or a reason to leave it out',
  (host) => {
    // If not: npm run test:hosts
    const { id, cannot } = host;
    const { version, passed = [], failed = [] } = results[id] ?? {};
    expect(version).toBe(programOf(id, {}).version);
    const known = [...passed, ...failed, ...Object.keys(cannot)];
    expect(known.toSorted()).toEqual(Object.keys(CHECKS).toSorted());
  },
);

test('TEST_CODEX_VERSION picks another version of Codex', () => {
  const codex = programOf('codex', { TEST_CODEX_VERSION: '999.0.0' });
  expect(codex.version).toBe('999.0.0');
  expect(isPinned(codex)).toBe(false);
  expect(isPinned(programOf('codex', {}))).toBe(true);
});
