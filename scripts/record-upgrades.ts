// Records what several releases of published servers list, for test/unit/trust/upgrades.test.ts:
//
//   npx tsx scripts/record-upgrades.ts
//
// Installs each release in a temporary folder without its install scripts, starts it, and asks for its tools. Nothing
// is called. A tool that several releases list alike is stored once.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from './bench/client.ts';

interface Published {
  readonly file: string;
  readonly npm: string;
  readonly license: string;
  readonly args?: readonly string[];
  /** Oldest first. */
  readonly versions: readonly string[];
}

const SERVERS: readonly Published[] = [
  {
    file: 'everything',
    npm: '@modelcontextprotocol/server-everything',
    license: 'MIT and Apache-2.0',
    versions: ['2025.7.1', '2025.9.25', '2025.12.18', '2026.1.26', '2026.7.4', '2026.8.31'],
  },
  {
    file: 'filesystem',
    npm: '@modelcontextprotocol/server-filesystem',
    license: 'MIT and Apache-2.0',
    args: ['.'],
    versions: ['2025.3.28', '2025.7.1', '2025.8.21', '2025.11.25', '2026.1.14', '2026.8.31'],
  },
  {
    file: 'memory',
    npm: '@modelcontextprotocol/server-memory',
    license: 'MIT and Apache-2.0',
    versions: ['0.6.2', '2025.8.4', '2025.9.25', '2025.11.25', '2026.1.26', '2026.8.31'],
  },
  {
    file: 'sequential-thinking',
    npm: '@modelcontextprotocol/server-sequential-thinking',
    license: 'MIT and Apache-2.0',
    versions: ['0.6.2', '2025.7.1', '2025.11.25', '2025.12.18', '2026.8.31'],
  },
  {
    file: 'playwright',
    npm: '@playwright/mcp',
    license: 'Apache-2.0',
    versions: ['0.0.29', '0.0.37', '0.0.47', '0.0.56', '0.0.64', '0.0.75', '0.0.83'],
  },
  {
    file: 'context7',
    npm: '@upstash/context7-mcp',
    license: 'MIT',
    versions: ['1.0.14', '1.0.33', '2.1.0', '2.2.5', '3.2.5', '4.1.1'],
  },
  {
    file: 'chrome-devtools',
    npm: 'chrome-devtools-mcp',
    license: 'Apache-2.0',
    versions: ['0.6.1', '0.10.2', '0.14.0', '0.20.3', '0.26.0', '1.5.0', '1.11.0'],
  },
];

const FIXTURES = fileURLToPath(new URL('../test/fixtures/upgrades/', import.meta.url));

async function toolsOf({ npm, args = [] }: Published, version: string): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-upgrade-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...flags, `${npm}@${version}`], { cwd: folder });
    const installed = join(folder, 'node_modules', npm);
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      bin: string | Record<string, string>;
    };
    const [program = ''] = typeof bin === 'string' ? [bin] : Object.values(bin);
    const { PATH = '' } = process.env;
    await using client = new Client({
      args: [join(installed, program), ...args],
      cwd: folder,
      env: { PATH, HOME: folder },
    });
    await client.shakeHands();
    const { tools } = await client.request('tools/list');
    return tools as unknown[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function record(server: Published): Promise<void> {
  const definitions: string[] = [];
  const releases: { version: string; tools: number[] }[] = [];
  for (const version of server.versions) {
    const tools = (await toolsOf(server, version)).map((tool) => JSON.stringify(tool));
    definitions.push(...tools.filter((tool) => !definitions.includes(tool)));
    releases.push({ version, tools: tools.map((tool) => definitions.indexOf(tool)) });
    console.log(`${server.npm}@${version}: ${tools.length} tools`);
  }
  const about =
    'What releases of this server list. A release names its tools by their place in "definitions". Written by scripts/record-upgrades.ts.';
  const head = JSON.stringify({ about, npm: server.npm, license: server.license, releases });
  const text = `${head.slice(0, -1)},"definitions":[\n${definitions.join(',\n')}\n]}\n`;
  writeFileSync(join(FIXTURES, `${server.file}.json`), text);
}

mkdirSync(FIXTURES, { recursive: true });
const wanted = process.argv.slice(2);
for (const server of SERVERS) {
  if (wanted.length === 0 || wanted.includes(server.file)) await record(server);
}
