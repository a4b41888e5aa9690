// A browser is a program that is handed an address, and nothing else happens.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openInBrowser } from '../../../src/base/process.ts';
import { eventually } from '../../support/processes.ts';
import { FIXTURES } from '../../support/project.ts';

const BROWSER = join(FIXTURES, 'programs/browser.mjs');

/** The file in which the browser notes what it is started with. */
function notesOfBrowser(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-browser-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const notes = join(folder, 'notes');
  vi.stubEnv('BROWSER_NOTES', notes);
  onTestFinished(() => void vi.unstubAllEnvs());
  return notes;
}

test('the URL is one argument, no matter what a shell would make of it', async () => {
  const notes = notesOfBrowser();
  const address = new URL('http://127.0.0.1:9/?a=1&b=$(touch x);`touch y`|z "q" \'p\' %0a');

  expect(await openInBrowser(address, { BROWSER })).toBe(true);

  expect(await eventually(() => existsSync(notes))).toBe(true);
  expect(JSON.parse(readFileSync(notes, 'utf8'))).toEqual([address.href]);
  expect(address.href).not.toMatch(/\s/);
});

test.each(['file:///etc/passwd', 'javascript:alert(1)', 'mailto:--help'])(
  'nothing is started for %s',
  async (address) => {
    const notes = notesOfBrowser();
    expect(await openInBrowser(new URL(address), { BROWSER })).toBe(false);
    expect(existsSync(notes)).toBe(false);
  },
);

test('a missing browser is not an error', async () => {
  const address = new URL('https://host.example/');
  expect(await openInBrowser(address, { BROWSER: '/no/such/browser' })).toBe(false);
});
