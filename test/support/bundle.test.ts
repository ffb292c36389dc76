// The processes that tests start: they load the bundle of the sources, and look as if they loaded the sources.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Cut } from '../mutants/mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const plant = join(root, 'test', 'mutants', 'plant.ts');

/** Prints the URLs of the modules that were loaded, then the stack of an error of the sources. */
const program = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  const { durationMs } = await import(${JSON.stringify(join(root, 'src/time/duration.ts'))});
  try {
    durationMs('soon');
  } catch (error) {
    console.log(JSON.stringify({ loaded, stack: error.stack, message: error.message }));
  }
`;

interface Printed {
  readonly loaded: readonly string[];
  readonly stack: string;
  readonly message: string;
}

async function run(flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Printed> {
  const words = [...flags, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env: { ...process.env, ...env } });
  return JSON.parse(stdout) as Printed;
}

test('a process loads the bundle, and its stack traces show the lines of the sources', async () => {
  const { loaded, stack } = await run();
  expect(loaded.filter((url) => url.endsWith('.ts'))).toEqual([]);
  const [, path, line] = /\((?:file:\/\/)?(\/[^)]*?src\/time\/duration\.ts):(\d+):\d+\)/.exec(stack) ?? [];
  expect(path, stack).toBe(join(root, 'src/time/duration.ts'));
  expect(readFileSync(path!, 'utf8').split('\n')[Number(line) - 1]).toMatch(/throw|malformed\(|sumOfParts\(/);
});

test('a process with a mutant loads the sources, into which the mutant is planted', async () => {
  const { message } = await run();
  const source = readFileSync(join(root, 'src/time/duration.ts'), 'utf8');
  const from = /export function durationMs\(.*\{\n/.exec(source)![0];
  const cut: Cut = { file: 'src/time/duration.ts', from, to: `${from}  throw new Error('a mutant');\n` };
  const mutated = await run(['--import', plant], { STINT_MUTANT: JSON.stringify([cut]) });
  expect(mutated.message).toBe('a mutant');
  expect(message).not.toBe('a mutant');
});
