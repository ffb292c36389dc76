// What handlers can do with the objects of their context: spread them, replace their functions, and write to the tags.
import { describe, expect, test } from 'vitest';
import { jobType, type BatchJob, type Context } from '../../../src/index.ts';
import { start } from './kit.ts';

type Given = Pick<Context, 'run' | 'log' | 'output' | 'limits'>;

/** Types whose handlers do this with what they are given: one for single jobs, one for batches. */
const kinds = [
  ['a single job', (use: (given: Given) => unknown) => jobType('each', { run: async (context) => void (await use(context)) })],
  ['a job of a batch', (use: (given: Given) => unknown) => jobType('each', {
    batch: { size: 2 },
    runBatch: ({ jobs }) => Promise.all(jobs.map(async (job: BatchJob<unknown>) => {
      await use(job);
      return job.done();
    })),
  })],
] as const;

describe.each(kinds)('what the handler of %s is given', (_, typeOf) => {
  const logOf = async (use: (given: Given) => unknown): Promise<string[]> => {
    const type = typeOf(use);
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    expect(await run.get()).toMatchObject({ fate: 'succeeded' });
    return (await run.log()).map(({ level, text }) => `${level} ${text}`);
  };

  test('can be spread into an object with more functions', async () => {
    expect(await logOf(async ({ log, output, limits }) => {
      const logger = { ...log, trace: (text: string) => log.debug(`trace: ${text}`) };
      logger.trace('a');
      logger.info('b');
      logger.warn('c');
      logger.error('d');
      await { ...output }.write('chunk');
      await expect({ ...limits }.spend('none', 1)).rejects.toMatchObject({ code: 'limit.unknown' });
    })).toEqual(['debug trace: a', 'info b', 'warn c', 'error d']);
  });

  test('can get other functions, such as those of a spy', async () => {
    expect(await logOf(({ log, output, limits }) => {
      const { info } = log as Record<'info', (text: string) => void>;
      log.info = (text) => info(`seen: ${text}`);
      log.info('a');
      output.write = async () => {};
      limits.spend = async () => {};
    })).toEqual(['info seen: a']);
  });

  test.each([null, { order: '42' }])('has tags of its own: what is written to %o changes no job', async (tags) => {
    const type = typeOf(({ run }) => void Object.assign(run.tags, { seen: 'yes' }));
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type, tags === null ? {} : { tags });
    await t.drain();
    expect(await run.get()).toMatchObject({ fate: 'succeeded', tags });
  });
});

test('each task has a copy of the tags of its run', async () => {
  const seen: object[] = [];
  const type = jobType('split', {
    taskDetails: () => [1, 2],
    taskResults: ({ run }) => {
      seen.push({ ...run.tags });
      Object.assign(run.tags, { seen: 'yes' });
    },
  });
  const t = await start({ types: [type] });
  await t.createJobRun(type, { tags: { order: '42' } });
  await t.drain();
  expect(seen).toEqual([{ order: '42' }, { order: '42' }]);
});
