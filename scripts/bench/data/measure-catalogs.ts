// Generates real-servers.json from the tool lists of published MCP servers:
//
//   npx tsx scripts/bench/data/measure-catalogs.ts FOLDER
//
// FOLDER has one JSON file per server, with `npm`, `version`, `package_description` and the `tools` from
// its tools/list. Those lists are large and belong to others, so only their size is kept here, and one
// sentence about each server.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countToolTokens, type Tool } from '../count.ts';

interface Catalog {
  readonly npm: string;
  readonly version: string;
  readonly package_description?: string;
  readonly tools: readonly Tool[];
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder with the tool lists.');

const servers = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Catalog)
  .map(({ npm, version, package_description = '', tools }) => ({
    npm,
    version,
    tools: tools.length,
    tokens: countToolTokens(tools),
    description: firstSentence(package_description),
  }))
  .sort((a, b) => (a.npm < b.npm ? -1 : 1));

const about =
  'Published MCP servers, as they answered tools/list in November 2026: how many tools each has, ' +
  'how many tokens those are (name, description and inputSchema of each tool as JSON, encoding ' +
  'o200k_base), and the first sentence of its npm description. Written by measure-catalogs.ts.';

writeFileSync(
  fileURLToPath(new URL('./real-servers.json', import.meta.url)),
  `${JSON.stringify({ about, servers }, null, 2)}\n`,
);

function firstSentence(text: string): string {
  return (/^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text).trim();
}
