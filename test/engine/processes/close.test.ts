// SIGTERM while work is under way: nothing new is claimed, and nothing that was claimed is lost or counted.
import { describe, expect, test } from 'vitest';
import { endless, patient, quick, stubborn } from './children/patient.ts';
import { detail } from '../../support/detail.ts';
import { flawsOf, histories, kindsOf, ledgerFlaws } from './histories.ts';
import { leaseMs, storeKindsOfRun, World } from './world.ts';

describe.each(storeKindsOfRun)('on $name', (kind) => {
  describe.concurrent('an instance that gets SIGTERM', () => {
    test('finishes what runs, however long that takes, starts nothing more, and exits with 0', async () => {
      await using world = await World.create(kind);
      const [ann] = await Promise.all([world.start('patient', 'ann'), world.start('phased', 'bob')]);
      const runs = [await world.engine.createJobRun(patient), await world.engine.createJobRun(patient)];
      await world.until('both to run', () => world.entries({ what: 'start' }).length === 2);
      ann.signal('SIGTERM');
      const closing = await world.entry({ what: 'closing' });
      const late = await world.engine.createJobRun(quick);
      await world.until('heartbeats beyond the lease', async () => {
        const instances = await world.engine.instances();
        return instances.some(({ id, beatAt }) => id === 'ann' && beatAt > closing.at + leaseMs + 500);
      });
      world.open('go');

      expect(await ann.exit).toEqual({ code: 0, signal: null });
      for (const run of runs) expect(await kindsOf(run)).toEqual(['created', 'claimed', 'succeeded']);
      expect(world.entries({ what: 'start' })).toHaveLength(2);
      // A claim that was under way at the signal is released.
      expect(await late.get()).toMatchObject({ state: 'pending', attempt: 0 });
      expect((await world.engine.instances()).map(({ id }) => id)).toEqual(['bob']);
    });

    detail('hands back what does not end in time: the next instance starts it at once, and no try is lost', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('patient', 'ann', { patience: '100ms', isForced: true });
      const runs = await Promise.all([patient, stubborn, endless].map((type) => world.engine.createJobRun(type)));
      await world.until('all to run', () => world.entries({ what: 'start' }).length === 3);

      expect(await ann.end('SIGTERM')).toEqual({ code: 0, signal: null });
      for (const run of runs) {
        expect(await kindsOf(run)).toEqual(['created', 'claimed', 'released']);
        expect(await run.get()).toMatchObject({ state: 'pending', attempt: 0, crashes: 0 });
      }
      expect(world.entries({ what: 'aborted' })).toMatchObject([{ job: runs[0]!.id, reason: 'Interrupted' }]);
      world.open('go');
      await world.start('patient', 'bob');
      for (const run of runs.slice(0, 2)) {
        expect(await run.result()).toBe('patience was rewarded');
        expect(await run.get()).toMatchObject({ attempt: 1, fence: 2 });
      }
      await runs[2]!.stop();
      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
    });

    detail('gives back at once what it had claimed ahead', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('patient', 'ann', { slots: 1 });
      // Handlers that take no time let it claim many ahead.
      const warmUp = await world.engine.createJobRuns(quick, Array.from({ length: 300 }, () => ({})));
      await warmUp.at(-1)!.result();
      await world.engine.createJobRuns(patient, [{ priority: 1 }]);
      const ahead = await world.engine.createJobRuns(quick, Array.from({ length: 20 }, () => ({})));
      await world.until('some to be claimed ahead', async () => {
        return world.entries({ what: 'start', instance: 'ann' }).length === 301 && (await heldAhead(world)).length > 0;
      });
      ann.signal('SIGTERM');
      await world.entry({ what: 'closing' });
      await world.until('those to be given back', async () => (await heldAhead(world)).length === 0);
      world.open('go');

      expect(await ann.exit).toEqual({ code: 0, signal: null });
      const given = await Promise.all(ahead.map(kindsOf));
      expect(given.flat()).toContain('released');
      for (const run of ahead) expect(await run.get()).toMatchObject({ state: 'pending', attempt: 0, crashes: 0 });
    });
  });
});

const heldAhead = ({ engine }: World) => engine.count({ types: ['quick'], standings: ['running'] });
