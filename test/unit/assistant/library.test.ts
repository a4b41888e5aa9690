import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInLibrary, type LibraryEntry, loadLibrary } from '../../../src/assistant/library.ts';
import { plainName } from '../../../src/config/server/plain-name.ts';
import { childConfig } from '../../support/child-config.ts';
import { FIXTURES } from '../../support/project.ts';

const entries = await loadLibrary();
const { servers: listed }: { servers: Record<string, string[]> } = JSON.parse(
  readFileSync(join(FIXTURES, 'library/tool-names.json'), 'utf8'),
);

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** Tools are named in backquotes, and nothing else is. */
function toolsIn({ claude }: LibraryEntry): string[] {
  return [...claude.matchAll(/`([^`]*)`/g)].map(([, name = '']) => name);
}

describe('the library', () => {
  test('has at least fifty servers, and no name, package or URL belongs to two', () => {
    expect(entries.length).toBeGreaterThanOrEqual(50);
    const plainNames = entries.map(({ names }) => [...new Set(names.map(plainName))]);
    expect(repeated(plainNames.flat())).toEqual([]);
    expect(repeated(entries.flatMap(({ packages }) => packages))).toEqual([]);
    expect(repeated(entries.flatMap(({ addresses = [] }) => addresses))).toEqual([]);
  });

  test.each(entries.map((entry) => [entry.names[0] ?? '', entry] as const))(
    '%s has a one-line description and a role of one paragraph',
    (_, { switchboard, claude }) => {
      expect(switchboard).toMatch(/^Use this tool (?:to|for) [^\n]+\.$/);
      expect(switchboard.length).toBeLessThanOrEqual(160);
      expect(claude).toMatch(/^You [^\n]+\.$/);
      expect(claude.length).toBeGreaterThan(200);
      expect(claude.length).toBeLessThan(1_000);
    },
  );

  test.each(entries.map((entry) => [entry.names[0] ?? '', entry] as const))(
    'the role of %s names only tools that all its known packages have',
    (_, entry) => {
      for (const name of entry.packages) {
        const tools = listed[name];
        const strangers = toolsIn(entry).filter((tool) => tools && !tools.includes(tool));
        expect({ name, strangers }).toEqual({ name, strangers: [] });
      }
    },
  );

  test('knows the tools of most of its servers', () => {
    const checked = entries.filter(({ packages }) => packages.some((name) => listed[name]));
    expect(checked.length).toBeGreaterThan(30);
    for (const entry of checked) expect(toolsIn(entry)).not.toEqual([]);
  });

  test('finds each server by every name, package and URL, and no other', async () => {
    for (const { names, packages, addresses = [], switchboard } of entries) {
      const children = [
        ...names.map((name) => childConfig({ name })),
        ...packages.map((name) => started('npx', '-y', name)),
        ...addresses.map((host) => reached(`https://${host}/mcp`)),
      ];
      for (const child of children) {
        expect(await findInLibrary(child)).toMatchObject({ switchboard });
      }
    }
  });
});

function started(cmd: string, ...args: string[]) {
  return childConfig({ name: 'x', command: { cmd, args, env: {} } });
}

function reached(url: string) {
  return childConfig({ name: 'x', command: undefined, remote: { type: 'http', url, headers: {} } });
}

describe('a server is found', () => {
  const about = async (child: Parameters<typeof findInLibrary>[0]) =>
    (await findInLibrary(child))?.claude.slice(0, 40);

  test.each([
    ['npx', '-y', '@modelcontextprotocol/server-memory'],
    ['npx', '-y', '@modelcontextprotocol/server-memory@2026.8.31'],
    ['node', '/usr/lib/node_modules/@modelcontextprotocol/server-memory/dist/index.js'],
    ['node', 'C:\\n\\node_modules\\@modelcontextprotocol\\server-memory\\dist\\index.js'],
    ['docker', 'run', '-i', 'mcp/memory:latest'],
  ])('by its command: %s %s %s', async (cmd, ...args) => {
    expect(await about(started(cmd, ...args))).toMatch(/^You keep a knowledge graph/);
  });

  test.each(['mcp-server-git', 'mcp-server-git==1.0', 'mcp-server-git[x]', 'mcp-server-git.exe'])(
    'by a Python package: %s',
    async (name) => {
      expect(await about(started('uvx', name))).toMatch(/^You work in a local Git repository/);
      expect(await about(started(name))).toMatch(/^You work in a local Git repository/);
    },
  );

  test('by its URL, and one below it', async () => {
    expect(await about(reached('https://mcp.linear.app/sse'))).toMatch(/^You work in Linear/);
    expect(await about(reached('https://docs.mcp.cloudflare.com/sse'))).toMatch(/Cloudflare/);
    expect(await about(reached('https://linear.app.evil.example/'))).toBeUndefined();
    expect(await about(reached('${LINEAR_URL}'))).toBeUndefined();
  });

  test('by its command before its name', async () => {
    const child = { ...started('npx', '@modelcontextprotocol/server-postgres'), name: 'memory' };
    expect(await about(child)).toMatch(/PostgreSQL/);
  });

  test.each(['Memory', 'memory_mcp', 'mcp-server-memory'])('by its name: %s', async (name) => {
    expect(await about(childConfig({ name }))).toMatch(/^You keep a knowledge graph/);
  });

  test('or not at all', async () => {
    expect(await about(childConfig({ name: 'in-house' }))).toBeUndefined();
    expect(await about(started('node', 'memory.js'))).toBeUndefined();
  });
});
