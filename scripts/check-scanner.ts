// Checks the scanner on the tool lists of published servers:
//
//   npx tsx scripts/check-scanner.ts FOLDER
//
// FOLDER has one JSON file per server, with `npm` and the `tools` from its tools/list, as for
// scripts/bench/data/measure-catalogs.ts. The lists are large and belong to others, so they aren't part of this
// repository. Exits with 1 if a figure in docs/changes.md no longer holds.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '../src/mcp/tools.ts';
import { wordsOf } from '../src/trust/changes/words.ts';
import { isHard } from '../src/trust/scanner/finding.ts';
import { scanWords } from '../src/trust/scanner/scan.ts';
import { scanLists } from '../src/trust/scanner/scan-lists.ts';
import { ENCODED_TEXTS, HIDDEN_TEXTS } from '../test/support/attacks.ts';

interface PublishedServer {
  readonly npm: string;
  readonly tools: readonly Tool[];
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder with the tool lists.');

const servers = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as PublishedServer);
const all = servers.flatMap(({ tools }) => tools);

/** Every server's tools next to all others. */
function checkHonest(): void {
  const started = performance.now();
  const found = servers.flatMap((server) => {
    const others = servers
      .filter((other) => other !== server)
      .map(({ npm, tools }) => ({ name: npm, tools }));
    const lists = { tools: server.tools, prompts: [], instructions: undefined };
    return scanLists(lists, others).map((finding) => ({ server: server.npm, finding }));
  });
  const ms = Math.round(performance.now() - started);
  const hard = found.filter(({ finding }) => isHard(finding));
  report(
    `${all.length} tools of ${servers.length} servers, ${ms} ms`,
    `${hard.length} hard findings`,
    hard.length === 0,
  );
  for (const { server, finding } of found) {
    const { name, rule, severity, detail } = finding;
    console.log(`  ${severity}: ${server} ${name}: ${rule}: ${detail}`);
  }
}

/** One attack in each tool, in turn. */
function checkAttacks(): void {
  for (const [what, attacks, rule] of [
    ['hidden characters', HIDDEN_TEXTS, 'hidden'],
    ['encoded payloads', ENCODED_TEXTS, 'payload'],
  ] as const) {
    const tried = all.map((tool, index) => {
      const attack = attacks[index % attacks.length] ?? '';
      const poisoned = { ...tool, description: `${descriptionOf(tool)} ${attack}` };
      const findings = scanWords(wordsOf(poisoned));
      return findings.some((finding) => finding.rule === rule && isHard(finding));
    });
    const caught = tried.filter(Boolean).length;
    report(`${what} in each tool`, `${caught} of ${tried.length} found`, caught === tried.length);
  }
}

function descriptionOf({ description }: Tool): string {
  return typeof description === 'string' ? description : '';
}

function report(what: string, result: string, isGood: boolean): void {
  console.log(`${isGood ? 'ok' : 'FAILED'}: ${what}: ${result}`);
  if (!isGood) process.exitCode = 1;
}

checkHonest();
checkAttacks();
