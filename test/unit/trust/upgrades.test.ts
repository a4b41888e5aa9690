// Releases of published servers, in the order in which they came out: an honest upgrade is never held, and an attack in
// any of their tools always is. scripts/record-upgrades.ts records the releases.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Tool } from '../../../src/mcp/tools.ts';
import { ChangeRecords } from '../../../src/trust/changes/records.ts';
import { Reviewer } from '../../../src/trust/changes/review.ts';
import { wordsOf } from '../../../src/trust/changes/words.ts';
import { isHard } from '../../../src/trust/scanner/finding.ts';
import { scanWords } from '../../../src/trust/scanner/scan.ts';
import { ENCODED_TEXTS, HIDDEN_TEXTS } from '../../support/attacks.ts';
import { childConfig } from '../../support/child-config.ts';
import { FIXTURES } from '../../support/project.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';

interface Recorded {
  readonly npm: string;
  /** Oldest first. */
  readonly releases: readonly { readonly version: string; readonly tools: readonly number[] }[];
  readonly definitions: readonly Tool[];
}

const folder = join(FIXTURES, 'upgrades');
const servers = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded,
);

const listsOf = ({ releases, definitions }: Recorded) =>
  releases.map(({ version, tools }) => ({
    version,
    tools: tools.flatMap((place) => definitions[place] ?? []),
  }));

/** One server's lists, reviewed as if all others were there in their newest release. */
function createReview(server: Recorded) {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-upgrades-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const others = servers
    .filter((other) => other !== server)
    .map((other) => ({ name: other.npm, tools: listsOf(other).at(-1)?.tools ?? [] }));
  const config = childConfig({ name: server.npm, toolChanges: 'scan' });
  const list = { kind: 'tools', instructions: undefined, mask: (text: string) => text } as const;
  // A new reviewer each time, as after a restart.
  return (raw: readonly Tool[]) =>
    new Reviewer({
      records: new ChangeRecords(home),
      log: SILENT_LOG,
      others: () => others,
    }).review(config, { ...list, raw });
}

test('there are at least 20 upgrades of seven servers, and most change something', () => {
  const steps = servers.flatMap((server) => {
    const lists = listsOf(server).map(({ tools }) => JSON.stringify(tools));
    return lists.slice(1).map((list, index) => list !== lists[index]);
  });
  expect(servers).toHaveLength(7);
  expect(steps.length).toBeGreaterThanOrEqual(20);
  expect(steps.filter(Boolean).length).toBeGreaterThanOrEqual(20);
});

describe.each(servers)('$npm', (server) => {
  const lists = listsOf(server);

  test('no upgrade is held', async () => {
    const review = createReview(server);
    for (const { version, tools } of lists) {
      expect(tools.length).toBeGreaterThan(0);
      expect({ version, ...(await review(tools)) }).toMatchObject({ version, held: [] });
    }
  });

  test('no upgrade from any release to the newest is held', async () => {
    for (const { version, tools } of lists) {
      const review = createReview(server);
      await review(tools);
      const { held } = await review(lists.at(-1)?.tools ?? []);
      expect({ version, held }).toEqual({ version, held: [] });
    }
  });

  test('an upgrade with an attack is held', async () => {
    const review = createReview(server);
    const [first, ...others] = lists.at(-1)?.tools ?? [];
    if (!first) throw new Error('There are no tools.');
    await review([first, ...others]);
    const poisoned = { ...first, description: `${String(first['description'])}${HIDDEN_TEXTS[0]}` };
    expect((await review([poisoned, ...others])).held).toMatchObject([{ name: first.name }]);
  });

  test('the scanner finds nothing hard, and every hidden or encoded text', () => {
    const missed = server.definitions.flatMap((tool, index) => {
      const rulesIn = (more: string) =>
        scanWords(wordsOf({ ...tool, description: `${String(tool['description'])} ${more}` }))
          .filter(isHard)
          .map(({ rule }) => rule);
      const hidden = HIDDEN_TEXTS[index % HIDDEN_TEXTS.length] ?? '';
      const encoded = ENCODED_TEXTS[index % ENCODED_TEXTS.length] ?? '';
      const isRight =
        rulesIn('').length === 0 &&
        rulesIn(hidden).includes('hidden') &&
        rulesIn(encoded).includes('payload');
      return isRight ? [] : [tool.name];
    });
    expect(missed).toEqual([]);
  });
});
