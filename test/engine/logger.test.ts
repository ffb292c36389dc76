// A logger of the program's own may throw: nothing is lost by it but the line.
import { once } from 'node:events';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { neverThrowing, textFirst } from '../../src/logger.ts';

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

test('pino gets the details before the text, and an error in the field that it serializes', async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const broken = jobType('broken', { retry: { attempts: 1 }, run: () => { throw new Error('no paper'); } });
  await using engine = new Engine({ store: 'memory:', types: [broken], logger });
  await engine.resume();
  const run = await engine.createJobRun(broken);
  await run.result().catch(() => {});
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(told.at(-1)).toMatchObject({ msg: `run ${run.id} (broken) failed: no paper`, type: 'broken', code: 'unknown' });

  textFirst(logger).error('cannot claim', { error: new Error('connect ECONNREFUSED'), id: 7 });
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ msg: 'cannot claim', id: 7, err: { message: 'connect ECONNREFUSED' } });
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
