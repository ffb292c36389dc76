// What reaches the terminal: text of jobs is shown, and controls nothing.
import { expect, test } from 'vitest';
import { harmless, printable } from '../../src/cli/print.ts';
import { Place } from './stint.ts';

test.each([
  ['U+202E, which reverses what follows', 'exe.\u202Egpj', 'exe.\\u202egpj'],
  ['isolates and marks of direction', '\u2066a\u2069\u200e\u061c', '\\u2066a\\u2069\\u200e\\u061c'],
  ['text without width', 'a\u200bb\ufeffc\u00add', 'a\\u200bb\\ufeffc\\u00add'],
  ['separators of lines', 'a\u2028b\u2029c\u0085d\re\nf', 'a\\u2028b\\u2029c\\u0085d\\u000de\\u000af'],
  ['sequences of a terminal, also those of eight bits', '\u001b]0;x\u0007\u009b2J', '\\u001b]0;x\\u0007\\u009b2J'],
  ['tags and halves of characters', '\u{e0041}\ud800', '\\udb40\\udc41\\ud800'],
])('%s: shown as an escape', (_, text, shown) => {
  expect(harmless(text)).toBe(shown);
});

test('words in every script and emoji stay as they are', () => {
  for (const text of ['naïve', 'שלום', 'می‌خواهم', '日本語', '👩‍💻 ❤️', 'a\\u202eb']) expect(harmless(text)).toBe(text);
});

test('printed text has no control characters except line breaks, tabs and our own styles', () => {
  const text = 'a\tb\nc \u001b[31mred\u001b[39m \u001b[8mhidden\u001b[2J\u202e';
  expect(printable(text, true)).toBe('a\tb\nc \u001b[31mred\u001b[39m \\u001b[8mhidden\\u001b[2J\\u202e');
  expect(printable('\u001b[31mred', false)).toBe('\\u001b[31mred');
});

test('a name that reverses text is shown by its escape in tables, details, JSON and refusals', async () => {
  using place = new Place();
  const name = 'daily \u202Egpj.exe';
  const shown = String.raw`daily \u202egpj.exe`;
  await place.stint('migrate');
  for (const words of [['create', name, '--type', 'http', '--every', '1d'], ['show', name], ['ls'], ['ls', '--json'], ['show', `${name}?`]]) {
    const { out, err } = await place.stint('defs', ...words);
    expect(out + err, words.join(' ')).toContain(shown);
    expect(out + err, words.join(' ')).not.toContain('\u202e');
  }
  const { out } = await place.stint('defs', 'ls', '--json');
  expect(JSON.parse(out)).toMatchObject({ items: [{ name }] });
});
