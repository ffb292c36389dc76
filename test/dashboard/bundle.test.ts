// The built dashboard: its size, and that it loads nothing from other hosts.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { buildIfStale, builtFolder } from '../../dashboard/build.ts';

const bundleMax = 250_000;
const loading = /(?:src|href)="(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\/|@import|import\(["'`]https?:/gi;
let files: readonly { readonly name: string; readonly content: Buffer }[];

beforeAll(async () => {
  await buildIfStale();
  const entries = await readdir(builtFolder, { recursive: true, withFileTypes: true });
  files = await Promise.all(entries.filter((entry) => entry.isFile()).map(async ({ parentPath, name }) => ({
    name, content: await readFile(join(parentPath, name)),
  })));
}, 60_000);

test('the built dashboard, with its fonts, is below 250 kB compressed', () => {
  const size = files.reduce((sum, { content }) => sum + gzipSync(content).byteLength, 0);
  expect(size).toBeGreaterThan(10_000);
  expect(size).toBeLessThan(bundleMax);
});

test('the built dashboard loads nothing from other hosts and has no inline code', () => {
  const page = files.find(({ name }) => name === 'index.html')!.content.toString();
  expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
  for (const { name, content } of files.filter((file) => /\.(html|css|js)$/.test(file.name))) {
    const text = content.toString();
    expect(text.match(loading) ?? [], name).toEqual([]);
    expect(text, name).not.toMatch(/\beval\(|new Function\(|document\.write\(/);
  }
});
