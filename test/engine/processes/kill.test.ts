// Instances in processes of their own, one of which is killed while it holds a job, in every phase of its life.
import { describe, expect, test } from 'vitest';
import type { Engine, Event } from '../../../src/index.ts';
import { phased, simple, type PhasedInput } from './children/phased.ts';
import { figure } from './figures.ts';
import { eventsOf, flawsOf, histories, ledgerFlaws, type Told } from './histories.ts';
import { leaseMs, storeKinds, World } from './world.ts';

/** After the end of a lease, in store time. */
const repairMs = 5_000;
/** Store time as a client knows it is older than the store's own by the way it went. */
const clockMs = 250;

const phases: readonly { hangsIn: PhasedInput['hangsIn']; phase: string; tasks: number; instances: readonly string[] }[] = [
  { hangsIn: 'prepare', phase: 'prepare', tasks: 3, instances: ['ann', 'bob'] },
  { hangsIn: 'planning', phase: 'prepare', tasks: 2_500, instances: ['ann', 'bob'] },
  { hangsIn: 'task', phase: 'run', tasks: 6, instances: ['ann', 'bob', 'cid'] },
  { hangsIn: 'gather', phase: 'gather', tasks: 3, instances: ['ann', 'bob', 'cid'] },
];

describe.each(storeKinds)('on $name', (kind) => {
  describe.concurrent('an instance is killed', () => {
    test.each(phases)('while it holds a job in $hangsIn: the others repair it', async ({ hangsIn, phase, tasks, instances }) => {
      await using world = await World.create(kind);
      const members = await world.startAll('phased', instances);
      const run = await world.engine.createJobRun(phased, { input: { tasks, hangsIn } });
      const { instance, job } = await world.entry({ what: 'hangs' });
      await members.find((member) => member.instance === instance)!.end('SIGKILL');

      expect(await run.result({ timeout: '60s' })).toBe(tasks * (tasks - 1));
      const told = await histories(world.engine);
      expect(told).toHaveLength(1 + tasks);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
      const lapses = lapsesIn(told);
      expect(lapses.find((lapse) => lapse.job === job)).toMatchObject({ holder: instance, phase });
      expect(lapses.every((lapse) => lapse.holder === instance)).toBe(true);
      expect(await tooLate(world.engine, told)).toEqual([]);
    });

    test('between a claim and the start of its handler: the others start it, for the first time', async () => {
      await using world = await World.create(kind);
      const stunned = await world.start('phased', 'ann', { isStunned: true });
      const run = await world.engine.createJobRun(simple);
      await world.entry({ what: 'claimed' });
      await world.start('phased', 'bob');
      await stunned.end('SIGKILL');

      expect(await run.result({ timeout: '60s' })).toBe(run.id);
      const told = await histories(world.engine);
      expect(flawsOf(told)).toEqual([]);
      expect(kindsOf(told[0]!.events)).toEqual(['created', 'claimed', 'lapsed', 'claimed', 'succeeded']);
      expect(lapsesIn(told)).toMatchObject([{ holder: 'ann', phase: 'run' }]);
      expect(world.entries({ what: 'start' })).toMatchObject([{ instance: 'bob', fence: 2, attempt: 1 }]);
      expect(await tooLate(world.engine, told)).toEqual([]);
    });
  });
});

const kindsOf = (events: readonly Event[]) => events.map(({ kind }) => kind);

const lapsesIn = (told: readonly Told[]) =>
  told.flatMap(({ job, events }) => eventsOf(events, 'lapsed').map((event) => ({ job: job.id, ...event })));

/** Sentences about takeovers that came before the lease was over, or too long after it. */
async function tooLate(engine: Engine, told: readonly Told[]): Promise<string[]> {
  const instances = await engine.instances();
  return told.flatMap(({ job, events }) =>
    eventsOf(events, 'lapsed').flatMap((lapse) => {
      const over = instances.find(({ id }) => id === lapse.holder)!.leaseUntil;
      const claimed = eventsOf(events, 'claimed').find(({ n }) => n > lapse.n)!;
      figure('recovery after the last heartbeat', claimed.at - over + leaseMs, 'ms');
      return [
        ...(lapse.at >= over - clockMs ? [] : [`S6: job ${job.id} was taken ${over - lapse.at} ms before the lease was over`]),
        ...(claimed.at - over <= repairMs ? [] : [`L1: job ${job.id} waited ${claimed.at - over} ms beyond the lease`]),
      ];
    }),
  );
}
