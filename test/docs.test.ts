// What the documents say runs: their code is the examples' code, their links lead somewhere, the examples end well.
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md', ...globSync('docs/*.md', { cwd: root })];

test('the code that the README shows is the example that runs', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, file = '', shown = ''] = /<!-- (\S+\.ts) -->\n```ts\n([^]*?)```/.exec(readme) ?? [];
  expect(shown).toBe(readFileSync(join(root, file), 'utf8').replace("'../../src/index.ts'", "'stint'"));
});

test('the quick example runs to its end', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'stint-quick-'));
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples/quick/quick.ts')], { cwd });
  expect(stdout).toContain('{ sent: 5 }');
});

test.each(pages)('every link of %s leads to a file that is there', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
  expect(links.filter((link) => !existsSync(resolve(root, dirname(page), link)))).toEqual([]);
});
