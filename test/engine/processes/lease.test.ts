// Leases and real processes: one whose event loop is blocked, one that hangs, one that was stopped and goes on.
import { describe, expect, test } from 'vitest';
import { beside, blocking, hanging, looping, overtaken, quick, stuck } from './children/held.ts';
import { flawsOf, histories, kindsOf, ledgerFlaws } from './histories.ts';
import { detail } from '../../support/detail.ts';
import { slowness } from '../../support/patience.ts';
import { storeKindsOfRun, World } from './world.ts';

describe.concurrent.each(storeKindsOfRun)('on $name', (kind) => {
  for (const { how, isAsync, isStoreObject, left } of [
    { how: 'at once, on a store given by URL', isAsync: false, isStoreObject: false, left: 'released' },
    { how: 'after an await, on a store object', isAsync: true, isStoreObject: true, left: 'lapsed' },
  ]) detail(`a handler that blocks its event loop endlessly ${how}, times out, and the jobs beside it continue on another instance`, async () => {
    await using world = await World.create(kind);
    await world.start('held', 'ann', { isStoreObject });
    const neighbours = await world.engine.createJobRuns(beside, [{}, {}]);
    for (const { id } of neighbours) await world.entry({ what: 'start', job: id });
    const run = await world.engine.createJobRun(stuck, { input: { isAsync } });
    await world.entry({ what: 'start', job: run.id });
    await world.start('held', 'bob');

    await expect(run.result()).rejects.toThrow('took longer than 5000 ms');
    expect(await run.get()).toMatchObject({ error: { code: 'timed out' } });
    for (const { id } of neighbours) await world.entry({ what: 'start', job: id, instance: 'bob' });
    world.open('go');
    for (const neighbour of neighbours) expect(await neighbour.result()).toBe('stood beside');
    expect(await kindsOf(run)).toEqual(['created', 'claimed', 'failed']);
    for (const neighbour of neighbours) {
      expect(await kindsOf(neighbour)).toEqual(['created', 'claimed', left, 'claimed', 'succeeded']);
    }
  });
});

describe.concurrent.each(storeKindsOfRun)('on $name', (kind) => {
  describe('leases', () => {
    test('a handler that blocks its event loop beyond the lease keeps it, and so do the jobs beside it', async () => {
      await using world = await World.create(kind);
      // Long enough that a busy machine cannot be taken for a blocked process.
      const lease = { lease: `${5 * slowness}s` } as const;
      await Promise.all([world.start('held', 'ann', lease), world.start('phased', 'bob', lease)]);
      const neighbour = await world.engine.createJobRun(beside);
      await world.entry({ what: 'start' });
      const run = await world.engine.createJobRun(blocking, { input: { ms: 8_000 * slowness } });

      expect(await run.result()).toBe('blocked');
      world.open('go');
      expect(await neighbour.result()).toBe('stood beside');
      for (const each of [run, neighbour]) expect(await kindsOf(each)).toEqual(['created', 'claimed', 'succeeded']);
    });

    detail('a handler that hangs ends at its timeout, by its signal or by the end of its process', async () => {
      await using world = await World.create(kind);
      await world.start('held', 'ann');
      const runs = [await world.engine.createJobRun(hanging), await world.engine.createJobRun(looping)];

      for (const run of runs) await expect(run.result()).rejects.toThrow('took longer than');
      expect(await kindsOf(runs[0]!)).toEqual(['created', 'claimed', 'retried', 'claimed', 'failed']);
      expect(await kindsOf(runs[1]!)).toEqual(['created', 'claimed', 'failed']);
      for (const run of runs) expect(await run.get()).toMatchObject({ error: { code: 'timed out' } });
      expect(world.entries({ what: 'aborted' })).toMatchObject([{ reason: 'TimedOut' }, { reason: 'TimedOut' }]);
    });

    test('a process that was stopped beyond its lease can write nothing, and the signals of its handlers abort', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('held', 'ann');
      const run = await world.engine.createJobRun(overtaken);
      await world.until('its first line in the log', async () => (await run.log()).length === 1);
      await world.freeze(ann);
      await world.start('held', 'bob');
      await world.entry({ what: 'start', instance: 'bob' });
      ann.signal('SIGCONT');
      await world.entry({ what: 'tried', instance: 'ann' });
      await world.until('ann to be trusted again', async () => {
        const instances = await world.engine.instances();
        return instances.some(({ id, leaseUntil }) => id === 'ann' && leaseUntil > world.engine.now());
      });
      world.open('go');

      expect(await run.result()).toBe('in time');
      expect(world.entries({ what: 'aborted' })).toMatchObject([{ instance: 'ann', fence: 1, reason: 'LeaseLost' }]);
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'lapsed', 'claimed', 'succeeded']);
      const lines = (await run.log()).map(({ text, fence }) => [text, fence]);
      expect(lines).toEqual([['line of ann', 1], ['line of bob', 2]]);
      expect(JSON.stringify(await world.engine.snapshot(run.id))).not.toContain('too late');
      expect(await ann.end('SIGTERM')).toEqual({ code: 0, signal: null });
      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
    });

    detail('a process that was stopped beyond its lease does not start what it had claimed ahead', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('held', 'ann', { slots: 1 });
      const warmUp = await world.engine.createJobRuns(quick, Array.from({ length: 300 }, () => ({})));
      await warmUp.at(-1)!.result();
      const [blocked] = await world.engine.createJobRuns(overtaken, [{ priority: 1 }]);
      const ahead = await world.engine.createJobRuns(quick, Array.from({ length: 20 }, () => ({})));
      await world.until('some to be claimed ahead', async () =>
        (await world.engine.count({ types: ['quick'], standings: ['running'] })).length > 0);
      await world.entry({ what: 'start', job: blocked!.id });
      await world.freeze(ann);
      await world.start('held', 'bob');
      world.open('go');
      for (const run of [blocked!, ...ahead]) await run.result();
      ann.signal('SIGCONT');
      await world.entry({ what: 'tried', instance: 'ann' });
      const last = await world.engine.createJobRuns(quick, Array.from({ length: 5 }, () => ({})));
      for (const run of last) await run.result();

      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
      const aheadIds = new Set(ahead.map(({ id }) => id));
      expect(world.entries({ what: 'start', instance: 'ann' }).filter(({ job }) => aheadIds.has(job!))).toEqual([]);
    });

    detail('a second process of one name is refused while the first lives, and starts when that was killed', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('held', 'ann');
      const run = await world.engine.createJobRun(beside);
      await world.entry({ what: 'start' });
      const second = world.launch('held', 'ann');
      expect(await second.exit).toMatchObject({ code: 1 });
      expect(second.output).toContain("code: 'taken.instance'");

      await ann.end('SIGKILL');
      await world.start('held', 'ann');
      world.open('go');
      expect(await run.result()).toBe('stood beside');
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'lapsed', 'claimed', 'succeeded']);
    });

    detail('a process that was stopped and has no rival keeps its jobs', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('held', 'ann');
      const run = await world.engine.createJobRun(beside);
      await world.entry({ what: 'start' });
      await world.freeze(ann);
      await world.until('the end of its lease', async () => {
        const [instance] = await world.engine.instances();
        return instance!.leaseUntil < world.engine.now() - 500;
      });
      ann.signal('SIGCONT');
      await world.until('its heartbeat', async () => {
        const [instance] = await world.engine.instances();
        return instance!.leaseUntil > world.engine.now();
      });
      world.open('go');

      expect(await run.result()).toBe('stood beside');
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'succeeded']);
    });
  });
});
