// Errors of the files given with --jobs: they name the file and the line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Place } from './stint.ts';

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'stint-load-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

test.each([
  ['syntax that Node cannot strip', 'const a = 1;\n\nexport enum Colour { Red }\n', 3, 'Node removes types only'],
  ['a syntax error', 'const a = 1;\nconst = 2;\n', 2, 'cannot load jobs'],
  ['an error while it loads', "\n\n\nthrow new Error('no database');\n", 4, 'no database'],
  [
    'a name that no job type can have',
    `import { jobType } from '${new URL('../../src/index.ts', import.meta.url).href}';\n\njobType('a b', { run: () => 1 });\n`,
    3, 'cannot use "a b" as the name of a job type',
  ],
])('%s is reported with file and line', async (_, text, line, part) => {
  const file = join(folder(), 'jobs.ts');
  writeFileSync(file, text);
  using place = new Place();
  const { code, err } = await place.stint('serve', '--jobs', file, '--http', '127.0.0.1:0', '--bedrock', 'off');
  expect(code).toBe(2);
  expect(err).toContain(`jobs.ts:${line}`);
  expect(err).toContain(part);
  expect(err).not.toContain('\n    at ');
});
