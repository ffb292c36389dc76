// `complete({ in: tx }, …)`: the end of a job in a transaction of the handler's own library, by its real package.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, jobType, LeaseLost, typed, type Context } from '../../src/index.ts';
import { waitMs } from '../support/patience.ts';
import type { Connected, Tx } from './library.ts';
import { databases, type Place } from './place.ts';

/** How often the handlers' own table has this text. */
const countOf = async (place: Place, text: string): Promise<number> =>
  (await place.written()).filter((each) => each === text).length;

const result = { timeout: `${waitMs}ms` } as const;

type Completing = Pick<Context, 'complete' | 'run'>;

describe.each(databases)('on $database', ({ place: openPlace, libraries }) => {
  let place: Place;
  let engine: Engine;
  let connected: Connected;

  /** Writes the id of the run and completes, in a transaction of the library; `inside` is called at its end. */
  async function shipping({ complete, run }: Completing, inside = async (): Promise<void> => {}): Promise<string> {
    const text = `run ${run.id}`;
    const completeIn = (tx: Tx): Promise<string> => complete({ in: tx.handle }, async () => {
      await tx.write(text);
      return text;
    });
    await connected.transaction(async (tx) => {
      expect(await completeIn(tx)).toBe(text);
      await inside();
    });
    return 'what a handler returns after complete is not stored';
  }

  const once = { retry: { attempts: 1 } } as const;
  const twice = { retry: { attempts: 2, base: '1ms' } } as const;
  const lost: unknown[] = [];
  const types = {
    ship: jobType('ship', {
      ...once,
      run: async (context) => {
        context.log.info('shipping');
        return shipping(context);
      },
    }),
    pack: jobType('pack', {
      ...once,
      taskDetails: () => [1, 2],
      taskResults: ({ task }) => task,
      jobResults: (context) => shipping(context),
    }),
    undone: jobType('undone', {
      ...twice,
      run: (context) => shipping(context, async () => {
        if (context.run.attempt === 1) throw new Error('no parcels left');
      }),
    }),
    forgotten: jobType('forgotten', {
      ...once,
      run: (context) => shipping(context, () => Promise.reject(new Error('rolled back'))).catch(() => 'shipped'),
    }),
    lost: jobType('lost', {
      ...twice,
      run: async (context) => {
        if (context.fence > 1) return shipping(context);
        await engine.jobs.requeue(context.run.id, 0, { by: 'test' });
        return shipping(context).catch((error: unknown) => {
          lost.push(error);
          throw error;
        });
      },
    }),
    wrong: jobType('wrong', {
      ...once,
      input: typed<string>(),
      run: ({ input, complete }) => complete({ in: connected.wrong[input] }, () => 'shipped'),
    }),
  };

  beforeAll(async () => {
    place = await openPlace();
    engine = new Engine({ store: place.open(), types: Object.values(types) });
    await engine.resume();
  });

  afterAll(async () => {
    await engine.close();
    await place.close();
  });

  describe.each(libraries)('by $name', (library) => {
    beforeAll(async () => {
      connected = await library.connect(place.address);
    });

    afterAll(() => connected.close());

    test.each(['ship', 'pack'] as const)('the end of a run and the writes are committed together: %s', async (name) => {
      const run = await engine.createJobRun(types[name]);

      expect(await run.result(result)).toBe(`run ${run.id}`);
      expect(await countOf(place, `run ${run.id}`)).toBe(1);
      if (name === 'ship') expect((await engine.jobs.store.log(run.id)).map(({ text }) => text)).toEqual(['shipping']);
    });

    test('a transaction that is rolled back leaves the run to its next attempt', async () => {
      const run = await engine.createJobRun(types.undone);

      expect(await run.result(result)).toBe(`run ${run.id}`);
      expect(await countOf(place, `run ${run.id}`)).toBe(1);
      const kinds = (await run.events()).map(({ kind }) => kind);
      expect(kinds).toEqual(['created', 'claimed', 'retried', 'claimed', 'succeeded']);
    });

    test('a handler that returns without the commit has failed', async () => {
      const run = await engine.createJobRun(types.forgotten);

      await expect(run.result(result)).rejects.toThrow('is not committed');
      expect(await countOf(place, `run ${run.id}`)).toBe(0);
    });

    test('a worker that no longer holds the run gets LeaseLost, and its transaction is rolled back', async () => {
      lost.length = 0;
      const run = await engine.createJobRun(types.lost);

      expect(await run.result(result)).toBe(`run ${run.id}`);
      expect(lost[0]).toBeInstanceOf(LeaseLost);
      expect(await countOf(place, `run ${run.id}`)).toBe(1);
    });

    test('what is no transaction is refused, and the refusal says what it is', async () => {
      const [what] = Object.keys(connected.wrong);
      const run = await engine.createJobRun(types.wrong, { input: what! });

      await expect(run.result(result)).rejects.toThrow(what!);
    });
  });
});
