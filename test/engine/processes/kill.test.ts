// Instances in processes of their own, one of which is killed while it holds a job, in every phase of its life.
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../../src/index.ts';
import { detail } from '../../support/detail.ts';
import { bySize } from '../../support/size.ts';
import { phased, simple, type PhasedInput } from './children/phased.ts';
import { figure } from './figures.ts';
import { eventsOf, flawsOf, histories, kindsOf, ledgerFlaws, type Told } from './histories.ts';
import { leaseMs, storeKindsOfSize, World } from './world.ts';

/** Store time as a client knows it is older than the store's own by the way it went. */
const clockMs = 250;

interface Crash extends PhasedInput {
  readonly phase: string;
  readonly instances: readonly string[];
}

const crashes: readonly Crash[] = [
  { hangsIn: 'prepare', phase: 'prepare', tasks: 3, instances: ['ann', 'bob'] },
  { hangsIn: 'planning', phase: 'prepare', tasks: 1_200, instances: ['ann', 'bob'] },
  { hangsIn: 'task', phase: 'run', tasks: 6, instances: ['ann', 'bob', 'cid'] },
  { hangsIn: 'gather', phase: 'gather', tasks: 3, instances: ['ann', 'bob', 'cid'] },
];

/** Seed 5 and the simulator let instances die in every phase; in real processes all phases are in the proof. */
const crashesOfRun = crashes.filter(({ hangsIn }) =>
  bySize({ small: hangsIn === 'planning' || hangsIn === 'task', ci: true }));

describe.each(storeKindsOfSize)('on $name', (kind) => {
  describe.concurrent('an instance is killed', () => {
    test.each(crashesOfRun)('while it holds a job in $hangsIn: the others repair it', async (crash) => {
      const { hangsIn, phase, tasks, instances } = crash;
      await using world = await World.create(kind);
      const members = await world.startAll('phased', instances);
      const run = await world.engine.createJobRun(phased, { input: { tasks, hangsIn } });
      const { instance, job } = await world.entry({ what: 'hangs' });
      await members.find((member) => member.instance === instance)!.end('SIGKILL');

      expect(await run.result()).toBe(tasks * (tasks - 1));
      const told = await histories(world.engine);
      expect(told).toHaveLength(1 + tasks);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
      expect(lapsesIn(told)).toContainEqual(expect.objectContaining({ job, holder: instance, phase }));
      expect(await tooEarly(world.engine, told)).toEqual([]);
      await world.engine.jobs.store.purge({ limit: 10, feedKeptMs: 60_000, retentionMs: null });
      expect(await kind.staged(world.url)).toBe(0);
    });

    detail('between a claim and the start of its handler: the others start it, for the first time', async () => {
      await using world = await World.create(kind);
      const stunned = await world.start('phased', 'ann', { isStunned: true });
      const run = await world.engine.createJobRun(simple);
      await world.entry({ what: 'claimed' });
      await world.start('phased', 'bob');
      await stunned.end('SIGKILL');

      expect(await run.result()).toBe(run.id);
      const told = await histories(world.engine);
      expect(flawsOf(told)).toEqual([]);
      expect(await kindsOf(run)).toEqual(['created', 'claimed', 'lapsed', 'claimed', 'succeeded']);
      expect(lapsesIn(told)).toMatchObject([{ holder: 'ann', phase: 'run' }]);
      expect(world.entries({ what: 'start' })).toMatchObject([{ instance: 'bob', fence: 2, attempt: 2 }]);
      expect(await tooEarly(world.engine, told)).toEqual([]);
    });
  });
});

const lapsesIn = (told: readonly Told[]) =>
  told.flatMap(({ job, events }) => eventsOf(events, 'lapsed').map((event) => ({ job: job.id, ...event })));

/** Sentences about takeovers that came before the lease was over. How long after it they came is a figure. */
async function tooEarly(engine: Engine, told: readonly Told[]): Promise<string[]> {
  const instances = await engine.instances();
  return told.flatMap(({ job, events }) =>
    eventsOf(events, 'lapsed').flatMap((lapse) => {
      const { leaseUntil: over } = instances.find(({ id }) => id === lapse.holder)!;
      // One that lives was paused for longer than its lease, as happens on a busy machine, and has another by now.
      if (over > lapse.at + leaseMs) return [];
      const claimed = eventsOf(events, 'claimed').find(({ n }) => n > lapse.n)!;
      figure('recovery after the last heartbeat', claimed.at - over + leaseMs, 'ms');
      const earlyMs = over - lapse.at;
      return earlyMs <= clockMs ? [] : [`S6: job ${job.id} was taken ${earlyMs} ms before the lease was over`];
    }),
  );
}
