// Handlers that do what handlers should not: each ends in a recorded outcome, and none harms the job beside it.
import { describe, expect, test } from 'vitest';
import type { Event, Job, RunHandle } from '../../../src/index.ts';
import {
  afterTimeout, bad, exits, exitsProcess, exitsThread, flooding, late, lateBatch, returning, throwing, witness,
} from './children/bad.ts';
import { detail } from '../../support/detail.ts';
import { flawsOf, histories, ledgerFlaws } from './histories.ts';
import { storeKindsOfRun, World } from './world.ts';

const messages: Readonly<Record<keyof typeof throwing, string>> = {
  undefined: 'undefined: undefined',
  null: 'object: null',
  'a number': 'number: 42',
  'a symbol': 'symbol: Symbol(sign)',
  'an object whose getters throw': 'the handler threw a value that cannot be read',
  'an error whose getters throw': 'the handler threw a value that cannot be read',
  'a proxy that throws at every touch': 'the handler threw a value that cannot be read',
  'ten million characters': 'x'.repeat(4_000),
  'half a surrogate pair and a NUL': '\ufffd  end',
  'an error that is its own cause': 'ring',
};

describe.each(storeKindsOfRun)('on $name', (kind) => {
  describe.concurrent('bad handlers', () => {
    test('in the process of the engine end in a recorded outcome, and the job beside them continues', async () => {
      await using world = await World.create(kind);
      const ann = await world.start('bad', 'ann', { slots: 8 });
      const beside = await world.engine.createJobRun(witness);
      await world.entry({ what: 'start' });
      const errors = Object.keys(throwing);
      const values = Object.keys(returning);
      const thrown = await world.engine.createJobRuns(bad, errors.map((throws) => ({ input: { throws } })));
      const returned = await world.engine.createJobRuns(bad, values.map((returns) => ({ input: { returns } })));
      const left = await world.engine.createJobRun(late);
      const leftByBatch = await world.engine.createJobRun(lateBatch);
      const timedOut = await world.engine.createJobRun(afterTimeout);
      const flooded = await world.engine.createJobRun(flooding);

      const failures = await Promise.all(thrown.map((run) => ended(world, run)));
      expect(failures.map(outcomeOf)).toEqual(errors.map((name) => ['failed', 'unknown', messages[name]]));
      const refusals = await Promise.all(returned.map((run) => ended(world, run)));
      const unfit = refusals.map((job, index) => [values[index], ...outcomeOf(job).slice(0, 2)]);
      const codeOf = (name: string): string => (name.includes('thenable') ? 'unknown' : 'missing output');
      expect(unfit).toEqual(values.map((name) => [name, 'failed', codeOf(name)]));
      expect(outcomeOf(await ended(world, timedOut))).toMatchObject(['failed', 'timed out', expect.anything()]);
      expect(await left.result()).toBe('gone');
      expect(await leftByBatch.result()).toBe('gone');
      expect(await flooded.result()).toBe('dry');
      const lines = await world.engine.jobs.store.log(flooded.id, 0, 20_000);
      expect(lines.length).toBeLessThanOrEqual(10_000);
      expect(lines.at(-1)!.text).toContain('line 49999');
      const { progress } = await world.engine.snapshot(flooded.id);
      expect(progress).toMatchObject({ processes: [{ stages: [{ done: 50_000 }] }] });

      await world.entry({ what: 'late is over' });
      await world.entry({ what: 'failed after its timeout' });
      world.open('go');
      expect(await beside.result()).toBe('saw nothing');
      expect(await attemptsOf(beside)).toMatchObject([{ kind: 'created' }, { kind: 'claimed' }, { kind: 'succeeded' }]);
      expect(ann.output).toContain('has a rejected promise that it did not handle');
      expect(ann.output).toContain('the handler of a batch of late-batch has a rejected promise');
      expect(await ann.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(flawsOf(await histories(world.engine))).toEqual([]);
    });

    detail('that exit from a thread or process of their own have crashed, and the job beside them continues', async () => {
      await using world = await World.create(kind);
      await world.start('bad', 'ann');
      const beside = await world.engine.createJobRun(witness);
      await world.entry({ what: 'start' });
      const runs = [await world.engine.createJobRun(exitsThread), await world.engine.createJobRun(exitsProcess)];

      for (const run of runs) expect(outcomeOf(await ended(world, run)).slice(0, 2)).toEqual(['failed', 'crashed']);
      world.open('go');
      expect(await beside.result()).toBe('saw nothing');
      expect(await attemptsOf(beside)).toMatchObject([{ kind: 'created' }, { kind: 'claimed' }, { kind: 'succeeded' }]);
    });

    detail('that take their instance down go to another while their budget lasts, then count as poison', async () => {
      await using world = await World.create(kind);
      const members = await world.startAll('bad', ['ann', 'bob', 'cid']);
      const run = await world.engine.createJobRun(exits);
      const poison = await ended(world, run);

      const [first, second] = world.entries({ what: 'exits' }).map(({ instance }) => instance);
      const verdict = `the lease was lost 2 times, last by ${second} in phase run`;
      expect(outcomeOf(poison)).toEqual(['failed', 'crashed', verdict]);
      expect(await attemptsOf(run)).toMatchObject([
        { kind: 'created' },
        { kind: 'claimed', holder: first },
        { kind: 'lapsed', holder: first, phase: 'run' },
        { kind: 'claimed', holder: second },
        { kind: 'failed' },
      ]);
      const lost = members.filter(({ instance }) => instance === first || instance === second);
      for (const member of lost) expect(await member.exit).toEqual({ code: 3, signal: null });
      world.open('go');
      const next = await world.engine.createJobRun(witness);
      expect(await next.result()).toBe('saw nothing');
      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
    });
  });
});

const ended = (world: World, run: RunHandle): Promise<Job> =>
  world.until(`run ${run.id} to end`, async () => {
    const job = await run.get();
    return job.state === 'ended' ? job : null;
  });

/**
 * The events without claims that were released: on a busy machine an instance may be too late to start a job, or to keep
 * its lease of two seconds.
 */
async function attemptsOf(run: RunHandle): Promise<readonly Event[]> {
  const events = await run.events();
  return events.filter(({ kind }, index) => kind !== 'released' && events[index + 1]?.kind !== 'released');
}

const outcomeOf = (job: Job) => (job.state === 'ended' ? [job.fate, job.error?.code, job.error?.message] : [job.state]);
