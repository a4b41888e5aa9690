import { expect, test } from 'vitest';
import { createMask } from '../../../src/base/secrets.ts';
import { cleanText, nearest } from '../../../src/base/text.ts';

test('terminal sequences go whole, with what they carry', () => {
  expect(cleanText('\u001b[2J\u001b]0;owned\u0007\u001b]8;;http://evil\u001b\\link\u001b[0m')).toBe(
    'link',
  );
});

test('characters that nobody sees go; tabs, line feeds and real letters stay', () => {
  expect(cleanText('a\u200b\u202e\u0000\u{e0041}\tb\n漢🚀é')).toBe('a\tb\n漢🚀é');
});

test('the names that were most likely meant come first', () => {
  const names = ['browser_click', 'browser_close', 'echo', 'add'];
  expect(nearest('browser_clik', names)).toEqual(['browser_click', 'browser_close']);
  expect(nearest('click', names)[0]).toBe('browser_click');
  expect(nearest('ECHO', names)).toEqual(['echo']);
  expect(nearest('zzzzzz', names)).toEqual([]);
});

test('secrets are masked as they are and inside JSON; short words are left alone', () => {
  const mask = createMask(['sk-12345678', 'tr"icky\nvalue', 'true']);
  expect(mask('token sk-12345678 is true')).toBe('token *** is true');
  expect(mask(JSON.stringify({ text: 'tr"icky\nvalue' }))).toBe('{"text":"***"}');
});

test('of two secrets of which one begins the other, no rest is left', () => {
  expect(createMask(['password', 'password-long'])('password-long')).toBe('***');
});
