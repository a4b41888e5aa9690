import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { originFolder, withOrigin } from '../../../src/install/origin.ts';
import { createProject } from '../../support/project.ts';

describe('the folder in which a host starts the servers of', () => {
  test.each([
    ['/work/app/.mcp.json', '/work/app'],
    ['/work/app/.vscode/mcp.json', '/work/app'],
    ['/work/app/.cursor/mcp.json', '/work/app'],
    ['/home/me/app/.gemini/settings.json', '/home/me/app'],
    ['/home/me/app/servers.json', '/home/me/app'],
    ['/work/.dotfiles/.mcp.json', '/work/.dotfiles'],
    ['/home/me/.claude.json', undefined],
    ['/home/me/.cursor/mcp.json', undefined],
    ['/home/me/.claude/mcpflip/servers.json', undefined],
    ['/home/me/.config/Code/User/mcp.json', undefined],
    ['/home/me/Library/Application Support/Claude/claude_desktop_config.json', undefined],
    ['stdin', undefined],
  ])('%s is %s', (file, expected) => {
    expect(originFolder(file, '/home/me')).toBe(expected);
  });
});

describe('a project’s entry', () => {
  const createFolder = () => {
    const { dir } = createProject({ 'server.js': '', 'src/x.js': '' });
    mkdirSync(join(dir, 'data'));
    return dir;
  };

  test.each([
    { command: './server' },
    { command: 'bin/server', args: ['.'] },
    { command: 'node', args: ['server.js'] },
    { command: 'node', args: ['src/x.js'] },
    { command: 'node', args: ['../other/server.js'] },
    { command: { cmd: 'node', args: ['server.js'] } },
    { command: 'npx', args: ['-y', 'server-filesystem', '.'] },
    { command: 'npx', args: ['-y', 'server-filesystem', 'data'] },
    { command: 'node', args: ['/abs/server.js', '--data=./data'] },
  ])('with a relative path gets its folder: %j', (entry) => {
    const folder = createFolder();
    expect(withOrigin(entry, folder)).toEqual({ ...entry, cwd: folder });
  });

  test.each([
    { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
    { command: 'node', args: ['/abs/server.js', '--verbose', '', '~/data', '${HOME}/x'] },
    { command: '/usr/bin/node', args: ['/abs/server.js'] },
    { command: 'data' },
    { url: 'https://example.com' },
    { command: 'node', args: ['server.js'], cwd: '/elsewhere' },
    { command: 'node', args: ['server.js'], cwd: '~/elsewhere' },
    { command: 'node', args: ['server.js'], cwd: '${workspaceFolder}' },
    'no entry',
  ])('stays unchanged: %j', (entry) => {
    expect(withOrigin(entry, createFolder())).toEqual(entry);
  });

  test('keeps a relative cwd, based on its own folder', () => {
    const folder = createFolder();
    const entry = { command: 'node', args: ['x.js'], cwd: 'src' };
    expect(withOrigin(entry, folder)).toEqual({ ...entry, cwd: join(folder, 'src') });
  });
});
