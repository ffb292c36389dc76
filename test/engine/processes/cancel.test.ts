// Cancel and stop, asked in one process of work that runs in another.
import { describe, expect, test } from 'vitest';
import { deaf, endlessProcess, endlessThread, listening, tasks } from './children/stoppable.ts';
import { figure } from './figures.ts';
import { detail } from '../../support/detail.ts';
import { eventsOf, flawsOf, histories, kindsOf, ledgerFlaws } from './histories.ts';
import { storeKindsOfRun, World } from './world.ts';

/** A loop that says so every 50 ms has ended when it has not for this long. */
const silenceMs = 1_000;

describe.each(storeKindsOfRun)('on $name', (kind) => {
  describe.concurrent('a run on another instance', () => {
    test('gets its cancel, with the reason, and ends as cancelled', async () => {
      await using world = await World.create(kind);
      await world.start('stoppable', 'ann');
      const run = await world.engine.createJobRun(listening);
      await world.entry({ what: 'start' });
      await run.cancel({ by: 'olga', why: 'not needed any more' });
      const aborted = await world.entry({ what: 'aborted' });

      await expect(run.result()).rejects.toThrow('was cancelled: not needed any more');
      expect(aborted).toMatchObject({ instance: 'ann', reason: 'Cancelled', why: 'not needed any more' });
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'cancelAsked', 'cancelled']);
      expect(await run.get()).toMatchObject({ fate: 'cancelled', cancel: { by: 'olga', code: 'user' } });
      const [asked] = eventsOf(await run.events(), 'cancelAsked');
      figure(`cancel on ${kind.name}`, aborted.at - asked!.at, 'ms');
    });

    detail('with tasks notifies the running ones on each instance, starts no other, and ends when none is open', async () => {
      await using world = await World.create(kind);
      await world.startAll('stoppable', ['ann', 'bob'], { slots: 1 });
      const run = await world.engine.createJobRun(tasks, { input: { tasks: 20 } });
      await world.entry({ what: 'start', instance: 'ann' });
      await world.entry({ what: 'start', instance: 'bob' });
      await run.cancel();

      await expect(run.result()).rejects.toThrow('was cancelled');
      expect(world.entries({ what: 'start' })).toHaveLength(2);
      expect(world.entries({ what: 'aborted' })).toHaveLength(2);
      expect((await world.engine.snapshot(run.id)).tasks).toMatchObject({ total: 20, cancelled: 20 });
      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
    });

    test('that ignores its cancel is ended after its grace, and can change nothing any more', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('stoppable', 'ann');
      const run = await world.engine.createJobRun(deaf);
      await world.entry({ what: 'start' });
      await run.cancel({ grace: '200ms' });

      await expect(run.result()).rejects.toThrow('was cancelled');
      world.open('go');
      await world.entry({ what: 'done' });
      expect(await ann.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'cancelAsked', 'cancelled']);
      expect(await run.get()).toMatchObject({ fate: 'cancelled', result: null });
    });

    for (const type of [endlessThread, endlessProcess]) detail(`that loops endlessly is ended by a stop: ${type.name}`, async () => {
      await using world = await World.create(kind);
      const ann = await world.start('stoppable', 'ann', { slots: 1 });
      const run = await world.engine.createJobRun(type);
      const { pid } = await world.entry({ what: 'start' });
      await world.entry({ what: 'still' });
      const { how } = await run.stop({ why: 'enough' });

      expect(how).toBe('terminated');
      await world.until('silence', () => Date.now() - world.entries({ what: 'still' }).at(-1)!.at > silenceMs);
      if (pid !== ann.pid) await world.until('the end of its process', () => !isAlive(pid));
      const [, claimed, stopped] = await run.events();
      expect([claimed!.kind, stopped!.kind]).toEqual(['claimed', 'cancelled']);
      const last = world.entries({ what: 'still' }).at(-1)!;
      figure(`stop of ${type.name} on ${kind.name}`, last.at - stopped!.at, 'ms');

      const next = await world.engine.createJobRun(listening);
      await world.entry({ what: 'start', job: next.id });
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
