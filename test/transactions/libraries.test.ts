// Runs in the caller's own transaction, by the real packages of the libraries: what is done to runs takes effect if and
// when the transaction commits, and workers that never poll start them then.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, jobDef, jobType, typed } from '../../src/index.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { waitMs } from '../support/patience.ts';
import { whileTicking } from '../support/ticking.ts';
import type { Connected } from './library.ts';
import { databases, type Place } from './place.ts';

const started: string[] = [];
const greet = jobType('greet', {
  input: typed<string>(),
  run: ({ input }) => {
    started.push(input);
    return `hello ${input}`;
  },
});
const daily = jobDef('daily greeting', greet, { params: 'all' });
const declared = { types: [greet], defs: [daily] };

describe.each(databases)('on $database', ({ place: openPlace, libraries }) => {
  let place: Place;
  let producer: Engine;
  let worker: Engine;
  const clock = new VirtualClock(Date.now());

  beforeAll(async () => {
    place = await openPlace();
    producer = new Engine({ store: place.open(), ...declared, instance: 'producer' });
    await producer.ready();
    const store = place.open();
    // With a clock that stands still, the worker never polls. It has a store of its own, so that only the commit tells
    // it of a run.
    worker = new Engine({ store, clock, ...declared, instance: 'worker' });
    const isListening = new Promise<void>((resolve) => store.onWake(resolve));
    await worker.resume();
    await worker.createJobRun(greet, { input: 'the first' });
    await isListening;
  });

  afterAll(async () => {
    await producer.close();
    await worker.close();
    await place.close();
  });

  describe.each(libraries)('by $name', (library) => {
    let connected: Connected;

    beforeAll(async () => {
      connected = await library.connect(place.address);
    });

    afterAll(() => connected.close());

    test('runs that are created, edited and cancelled in a transaction are so when it commits', async () => {
      const later = { delay: '1h' } as const;
      const requests = [{ input: 'bob', ...later }, { input: 'eve', ...later }];
      const [hurried, doomed] = await producer.createJobRuns(greet, requests);
      let ids: number[] = [];
      await connected.transaction(async (tx) => {
        await tx.write('committed');
        const runs = producer.in(tx.handle);
        const one = await runs.createJobRun(greet, { input: 'ann' });
        const ofDef = await runs.createJobRun(daily);
        const many = await runs.createJobRuns(greet, [{ input: 'ben' }, { input: 'cat' }]);
        await runs.editJobRun(hurried!.id, { input: '"bea"', dueTime: new Date(0) }, { by: 'ada' });
        const cancelled = await runs.cancelJobRun(doomed!.id, { by: 'shop', why: 'ordered' });
        expect(cancelled).toMatchObject({ state: 'ended', fate: 'cancelled' });
        ids = [one.id, ofDef.id, ...many.map(({ id }) => id)];
        expect(await producer.jobs.store.load(ids)).toEqual([]);
        expect((await doomed!.get()).state).toBe('pending');
      });
      const results = [...ids, hurried!.id].map((id) => producer.run(id).result({ timeout: `${waitMs}ms` }));

      expect(await whileTicking(clock, Promise.all(results))).toEqual(['hello ann', 'hello all', 'hello ben', 'hello cat', 'hello bea']);
      expect(await doomed!.get()).toMatchObject({ fate: 'cancelled', cancel: { by: 'shop', why: 'ordered' } });
      const audited = await producer.jobs.audited({ job: doomed!.id });
      expect(audited.records).toMatchObject([{ action: 'cancel', by: 'shop', why: 'ordered' }]);
      expect(await place.written()).toContain('committed');
    });

    test('the commit starts a run: no worker polls, and none starts it before', async () => {
      let id = 0;
      await connected.transaction(async (tx) => {
        id = (await producer.in(tx.handle).createJobRun(greet, { input: 'dan' })).id;
        // What workers cannot see, none starts.
        expect(await worker.jobs.store.load([id])).toEqual([]);
      });

      // Meanwhile the clock of the worker goes on by less than the time between two polls.
      expect(await whileTicking(clock, producer.run(id).result({ timeout: `${waitMs}ms` }))).toBe('hello dan');
      expect(started.filter((input) => input === 'dan')).toHaveLength(1);
      started.length = 0;
    });

    test('nothing is left of a transaction that is rolled back', async () => {
      const before = await place.written();
      const waiting = await producer.createJobRun(greet, { input: 'bob', delay: '1h' });
      const seen = await waiting.get();
      let id = 0;
      const given = connected.transaction(async (tx) => {
        await tx.write('rolled back');
        const runs = producer.in(tx.handle);
        id = (await runs.createJobRun(greet, { input: 'ann', unique: 'order' })).id;
        await runs.editJobRun(waiting.id, { priority: 7 }, { by: 'ada' });
        await runs.cancelJobRun(waiting.id, { by: 'ada' });
        throw new Error('changed my mind');
      });

      await expect(given).rejects.toThrow('changed my mind');
      expect(await producer.jobs.store.load([id])).toEqual([]);
      expect(await producer.history(id)).toEqual([]);
      expect(await waiting.get()).toEqual(seen);
      expect((await producer.jobs.audited({ job: waiting.id })).records).toEqual([]);
      expect(await producer.jobs.store.jobsByKey(['order'])).toEqual(new Map());
      expect(await place.written()).toEqual(before);
    });

    test('of nested savepoints, those that are rolled back take their runs with them', async () => {
      const ids: number[] = [];
      await connected.transaction(async (tx) => {
        const create = async (handle: unknown, input: string): Promise<void> =>
          void ids.push((await producer.in(handle).createJobRun(greet, { input })).id);
        await create(tx.handle, 'outer');
        await tx.nested((inner) => create(inner.handle, 'kept'));
        const undone = tx.nested(async (inner) => {
          await create(inner.handle, 'undone');
          throw new Error('changed my mind');
        });
        await expect(undone).rejects.toThrow('changed my mind');
        await create(tx.handle, 'after');
      });

      expect((await producer.jobs.store.load(ids)).map(({ id }) => id).toSorted((a, b) => a - b))
        .toEqual([ids[0], ids[1], ids[3]]);
    });

    test('a unique key that is taken gives the run that has it, and the transaction goes on', async () => {
      const first = await producer.createJobRun(greet, { input: 'ann', unique: 'once', delay: '1h' });
      await connected.transaction(async (tx) => {
        const second = await producer.in(tx.handle).createJobRun(greet, { input: 'bob', unique: 'once' });
        expect(second).toMatchObject({ id: first.id, outcome: 'existing' });
        await tx.write('goes on');
      });

      expect(await place.written()).toContain('goes on');
      await first.cancel();
    });

    test('what is no transaction is refused, and the refusal says what it is', async () => {
      for (const [what, wrong] of Object.entries(connected.wrong)) {
        const code = 'malformed.store';
        const message = expect.stringContaining(what) as string;
        await expect(producer.in(wrong).createJobRun(greet, { input: 'ann' })).rejects.toMatchObject({ code, message });
        await expect(producer.in(wrong).cancelJobRun(1)).rejects.toMatchObject({ code, message });
      }
    });
  });

  test.each([null, undefined, 7, 'begin', {}, [], new Map()])('%o is refused', async (wrong) => {
    const refusal = { code: 'malformed.store', message: expect.stringContaining('needs an open transaction') as string };
    await expect(producer.in(wrong).createJobRun(greet, { input: 'ann' })).rejects.toMatchObject(refusal);
    await expect(producer.in(wrong).editJobRun(1, { priority: 1 })).rejects.toMatchObject(refusal);
  });
});
