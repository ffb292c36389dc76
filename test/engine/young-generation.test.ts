/** The young generation of V8 is bounded while jobs are drained, and only then. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const program = join(import.meta.dirname, 'processes', 'children', 'young-generation.ts');
const bound = 2 * 16 * 1_048_576;

interface Sizes {
  readonly busy: number;
  readonly idle: number;
}

const sizesOf = (flags: readonly string[], ...args: readonly string[]): Sizes => printed(flags, args) as Sizes;

const printed = (flags: readonly string[], args: readonly string[]): unknown => JSON.parse(outputOf(flags, args));

function outputOf(flags: readonly string[], args: readonly string[]): string {
  const env = { ...process.env, NODE_OPTIONS: '' };
  return execFileSync(process.execPath, [...flags, program, ...args], { encoding: 'utf8', env });
}

describe('the young generation of V8', () => {
  test('does not grow beyond the bound while a worker claims many jobs, and grows again when it is idle', () => {
    const { busy, idle } = sizesOf([]);
    expect(busy).toBeLessThanOrEqual(bound);
    expect(idle).toBeGreaterThan(bound);
  });

  test('is where all objects begin while a worker claims many jobs, unless the program has a flag of its own', () => {
    const isTenured = (flags: readonly string[], ...args: readonly string[]): boolean =>
      /=> (maybe )?tenure/.test(outputOf([...flags, '--trace-pretenuring-statistics'], args));
    expect(isTenured([])).toBe(false);
    expect(isTenured([], 'no jobs')).toBe(true);
    expect(isTenured(['--allocation-site-pretenuring'])).toBe(true);
  });

  test('is left alone while a worker claims few jobs between two heartbeats, however many in all', () => {
    expect(printed([], ['few jobs'])).toEqual({ changes: 0 });
  });

  test('is left alone if the program was started with a flag of its own', () => {
    expect(sizesOf(['--max-semi-space-size=32']).busy).toBeGreaterThan(bound);
  });

  test('is left alone if the program has threads of its own', () => {
    expect(sizesOf([], 'with a thread').busy).toBeGreaterThan(bound);
  });
});
