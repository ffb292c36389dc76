// A logger of the program's own may throw: nothing is lost by it but the line.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { neverThrowing } from '../../src/logger.ts';

test('a logger that throws causes a process warning, and nothing else', async () => {
  const logger = neverThrowing({
    info: () => {
      throw new Error('the disk is full');
    },
    warn: () => {},
    error: () => {},
  });
  const warned = once(process, 'warning') as Promise<[Error]>;

  expect(() => logger.info('hello')).not.toThrow();
  expect((await warned)[0].name).toBe('StintWarning');
});

test('a logger is called as the object that it is', () => {
  const lines: unknown[] = [];
  const logger = {
    kept: lines,
    info(text: string) { this.kept.push(text); },
    warn(text: string) { this.kept.push(text); },
    error(text: string, about?: object) { this.kept.push([text, about]); },
  };
  const careful = neverThrowing(logger);
  careful.info('a');
  careful.warn('b');
  careful.error('c', { id: 1 });

  expect(lines).toEqual(['a', 'b', ['c', { id: 1 }]]);
});
