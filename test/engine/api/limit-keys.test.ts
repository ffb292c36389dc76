// Limit keys and parameters of definitions: what a schema adds or changes counts for every run, however it is created.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { every, jobDef, jobType } from '../../../src/index.ts';
import { start, type TestEngine } from './kit.ts';

const ways = [
  { how: 'a path', key: 'tenant' as const },
  { how: 'a function', key: ({ tenant }: { tenant: string }) => tenant },
];

/** The same schema, which always answers with a promise. */
const later = <S extends z.ZodType>(schema: S): S =>
  Object.assign(Object.create(schema) as S, {
    '~standard': { ...schema['~standard'], validate: async (value: unknown) => schema['~standard'].validate(value) },
  });

const tenant = z.string().toLowerCase().default('main');
const schemas = [
  { when: 'at once', input: z.object({ tenant }) },
  { when: 'later', input: later(z.object({ tenant })) },
];

const gates = async ({ engine }: TestEngine): Promise<(string | null)[]> =>
  (await engine.find({ kinds: ['run'] })).jobs.map(({ gate }) => gate);

describe.each(ways)('a limit key by $how', ({ key }) => {
  describe.each(schemas)('of a schema that answers $when', ({ input }) => {
    const work = jobType('work', { input, limit: { key, concurrency: 1 }, run: () => null });

    test.each([{}, { tenant: 'ACME' }])('is that of manual runs also for scheduled runs, with the parameters %j', async (params) => {
      const def = jobDef('hourly', work, { params, schedules: every('1h') });
      const t = await start({ types: [work], defs: [def] });
      await t.createJobRun(def);
      await t.advance('61m');
      const [scheduled, manual] = await gates(t);
      expect(manual).toContain(params.tenant === undefined ? 'main' : 'acme');
      expect(scheduled).toBe(manual);
    });

    test('follows parameters that an operator overrides', async () => {
      const def = jobDef('hourly', work, { params: { tenant: 'first' }, schedules: every('1h') });
      const t = await start({ types: [work], defs: [def] });
      for (const params of [{ tenant: 'SECOND' }, { tenant: 'third' }, {}]) {
        await t.engine.override('hourly', { params });
        await t.advance('1h');
      }
      const keys = (await gates(t)).reverse();
      for (const [index, name] of ['second', 'third', 'main'].entries()) expect(keys[index]).toContain(name);
    });
  });
});

describe('a definition without parameters', () => {
  const strict = later(z.object({ tenant: z.string() }));
  const lenient = z.object({ tenant: z.string() }).optional();

  test('is declared if an asynchronous schema refuses null', async () => {
    const work = jobType('work', { input: strict, run: ({ input }) => input.tenant });
    const def = jobDef('some', work);
    const t = await start({ types: [work], defs: [def] });
    const run = await t.createJobRun(def, { input: { tenant: 'acme' } });
    await t.advance('1s');
    expect(await run.result()).toBe('acme');
  });

  test.each([{ when: 'at once', input: lenient }, { when: 'later', input: later(lenient) }])(
    'has runs without an input if the schema, which answers $when, allows it', async ({ input: schema }) => {
      const work = jobType('work', { input: schema, run: ({ input }) => input ?? 'none' });
      const def = jobDef('some', work, { schedules: every('1h') });
      const t = await start({ types: [work], defs: [def] });
      const run = await t.createJobRun(def);
      await t.advance('61m');
      expect(await run.result()).toBe('none');
      expect((await t.engine.find({ kinds: ['run'], standings: ['succeeded'] })).jobs).toHaveLength(2);
    },
  );
});
