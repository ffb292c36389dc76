// Definitions that follow definitions: their runs are created with the runs that they follow, once, and wait for them.
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { jobDef, jobType, every } from '../../src/index.ts';
import type { AnyJobDef, DefOptions } from '../../src/engine/declare/job-def.ts';
import { declare, definition, disable, override, undefine } from '../../src/jobs/define.ts';
import { declareConnected } from '../../src/jobs/define-together.ts';
import { forgottenEnds, forgottenFollowers } from '../../src/jobs/proceed.ts';
import { tickDue } from '../../src/jobs/tick.ts';
import { applyEach } from '../../src/apply.ts';
import type { Created } from '../../src/jobs/create.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import { followingRule } from '../../src/model/following.ts';
import type { Job } from '../../src/model/job.ts';
import { storesOfRun } from '../support/stores.ts';
import { broken, codeOf, minute, tester, testOn, type World } from './world.ts';

const work = jobType('work', { run: () => null });
const first = jobDef('first', work, { schedules: every('1m'), overlap: 'allow' });
const follower = (name: string, options: DefOptions<never>): AnyJobDef => jobDef(name, work, options as object);
const second = follower('second', { after: first });
const third = follower('third', { after: 'second' });
const counting = jobDef('counting', jobType('count', { run: () => ({ rows: [3, 4] }) }), { schedules: every('1m'), overlap: 'allow' });
const adding = jobDef('adding', jobType('add', { input: z.object({ rows: z.array(z.number()), by: z.string() }), run: () => null }), {
  params: { rows: counting.result.rows, by: 'tick' },
});

async function define(world: World, ...defs: AnyJobDef[]): Promise<void> {
  for (const { name, spec, enabled } of defs) await declare(world.jobs, { name, spec, enabled, build: null }, 'code');
}

async function tick(world: World): Promise<void> {
  await world.clock.advance(minute);
  await tickDue(world.jobs, tester);
}

const runsOf = async (world: World, def: string): Promise<readonly Job[]> =>
  (await world.jobs.find({ kinds: ['run'], def }, { order: 'oldest' })).jobs;

const standingsOf = async (world: World, def: string): Promise<string[]> =>
  Promise.all((await runsOf(world, def)).map((job) => world.standing(job)));

async function end(world: World, def: string, command: 'succeed' | 'fail' = 'succeed'): Promise<void> {
  const [open] = (await runsOf(world, def)).filter(({ state }) => state === 'pending');
  const [running] = await world.claim();
  expect(running?.id).toBe(open!.id);
  if (command === 'succeed') await world.jobs.succeed(running!, running!.fence, tester);
  else await world.jobs.fail(running!, running!.fence, broken, tester, false);
}

const followersOf = async (world: World, name: string): Promise<readonly string[]> =>
  (await definition(world.store, name)).followers ?? [];

describe.each(storesOfRun)('definitions that follow definitions, on $name', (kind) => {
  const test = testOn(kind);

  test('a tick creates the runs of the definitions that follow, and each starts after the one before', async ({ world }) => {
    await define(world, first, second, third);
    await tick(world);
    const all = [await runsOf(world, 'first'), await runsOf(world, 'second'), await runsOf(world, 'third')].flat();
    expect(await Promise.all(all.map((job) => world.standing(job)))).toEqual(['pending', 'held by runs', 'held by runs']);
    expect(all.map(({ tick: of }) => of?.nominal)).toEqual(Array(3).fill(all[0]!.tick!.nominal));
    expect(await world.store.flowRuns(all[0]!.id, 0, 10)).toEqual(all.map(({ id }) => id));
    await end(world, 'first');
    expect(await standingsOf(world, 'second')).toEqual(['pending']);
    expect(await standingsOf(world, 'third')).toEqual(['held by runs']);
    await end(world, 'second');
    await end(world, 'third');
    expect(await standingsOf(world, 'third')).toEqual(['succeeded']);
  });

  test('two definitions that tick in one commit start a flow each', async ({ world }) => {
    const other = jobDef('other', work, { schedules: every('1m'), overlap: 'allow' });
    await define(world, first, other, second, follower('late', { after: 'other' }));
    await tick(world);
    const [one, two] = [await runsOf(world, 'first'), await runsOf(world, 'other')].map(([run]) => run!);
    expect(await world.store.flowRuns(one!.id, 0, 10)).toEqual([one!.id, (await runsOf(world, 'second'))[0]!.id]);
    expect(await world.store.flowRuns(two!.id, 0, 10)).toEqual([two!.id, (await runsOf(world, 'late'))[0]!.id]);
  });

  test('a crash between the end of a run and the continuation of its follower is made good, once', async ({ world }) => {
    await define(world, first, second);
    await tick(world);
    const [running] = await world.claim();
    // The end is committed, and the process is gone before it continues the follower.
    await applyEach(world.store, [{ job: running!, command: { do: 'succeed', fence: running!.fence } }], tester);
    expect(await standingsOf(world, 'second')).toEqual(['held by runs']);
    for (let turn = 0; turn < 2; turn++) {
      await forgottenEnds(world.store, tester)();
      await forgottenFollowers(world.store, tester)();
    }
    expect(await standingsOf(world, 'second')).toEqual(['pending']);
    await end(world, 'second');
    expect(await standingsOf(world, 'second')).toEqual(['succeeded']);
  });

  test('two instances that tick at the same time create one run of each follower', async ({ world }) => {
    await define(world, first, second);
    const again = await world.again();
    await world.clock.advance(minute);
    await Promise.all([tickDue(world.jobs, tester), tickDue(again, tester)]);
    expect(await runsOf(world, 'first')).toHaveLength(1);
    expect(await runsOf(world, 'second')).toHaveLength(1);
  });

  test('a failure cancels the rest, or starts it, or lets it wait for a retry', async ({ world }) => {
    await define(world, first, second, third, follower('cleanup', { after: 'first', on: 'failed' }),
      follower('always', { after: 'first', afterFailure: 'run' }), follower('patient', { after: 'first', afterFailure: 'wait' }));
    await tick(world);
    await end(world, 'first', 'fail');
    const names = ['second', 'third', 'cleanup', 'always', 'patient'];
    expect(await Promise.all(names.map((name) => standingsOf(world, name))))
      .toEqual([['cancelled'], ['cancelled'], ['pending'], ['pending'], ['held by runs']]);
    const [failed] = await runsOf(world, 'first');
    await world.jobs.retry(failed!.id, tester, { downstream: 'failed' });
    expect(await standingsOf(world, 'second')).toEqual(['held by runs']);
  });

  test('a disabled definition gets no run, nor do those that follow only it', async ({ world }) => {
    await define(world, first, second, third, follower('beside', { after: 'first' }));
    await disable(world.store, 'second', tester);
    await tick(world);
    expect(await Promise.all(['second', 'third', 'beside'].map((name) => standingsOf(world, name))))
      .toEqual([[], [], ['held by runs']]);
    const { job } = await definition(world.store, 'first');
    const [ticked] = (await world.jobs.history(job.id)).filter((event) => event.kind === 'ticked');
    expect(ticked).toMatchObject({ ticks: [{ followers: [
      { def: 'beside', run: (await runsOf(world, 'beside'))[0]!.id },
      { def: 'second', skipped: 'disabled' },
      { def: 'third', skipped: 'predecessor' },
    ] }] });
  });

  test('runs of a follower wait for each other, unless overlap is allow', async ({ world }) => {
    await define(world, first, second, follower('beside', { after: 'first', overlap: 'allow' }));
    await tick(world);
    await tick(world);
    for (const run of await world.claim({ limit: 2 })) await world.jobs.succeed(run, run.fence, tester);
    const claimed = await world.claim({ limit: 10 });
    expect(claimed.map(({ def }) => String(def)).sort()).toEqual(['beside', 'beside', 'second']);
  });

  test('a run that follows two definitions waits for both', async ({ world }) => {
    await define(world, first, second, follower('twin', { after: 'first' }), follower('join', { after: ['second', 'twin'] }));
    await tick(world);
    await end(world, 'first');
    const [one, two] = await world.claim({ limit: 2 });
    await world.jobs.succeed(one!, one!.fence, tester);
    expect(await standingsOf(world, 'join')).toEqual(['held by runs']);
    await world.jobs.succeed(two!, two!.fence, tester);
    expect(await standingsOf(world, 'join')).toEqual(['pending']);
  });

  test('results of the followed run become parts of the input, again after a retry', async ({ world }) => {
    await define(world, counting, adding);
    await tick(world);
    const [waiting] = await runsOf(world, 'adding');
    expect(JSON.parse(waiting!.input)).toEqual({ rows: { $result: 'counting', path: ['rows'] }, by: 'tick' });
    const succeedWith = async (rows: readonly number[]): Promise<Job> => {
      const [run] = await world.claim();
      await world.jobs.succeed(run!, run!.fence, tester, JSON.stringify({ rows }));
      return run!;
    };
    const first = await succeedWith([3, 4]);
    expect(JSON.parse((await world.get(waiting!)).input)).toEqual({ rows: [3, 4], by: 'tick' });
    await end(world, 'adding');
    await world.jobs.retry(first.id, tester, { downstream: 'all' });
    await succeedWith([5]);
    expect(JSON.parse((await world.get(waiting!)).input)).toEqual({ rows: [5], by: 'tick' });
  });

  test('a run by hand has its followers, once, and takes no second ones for a taken key', async ({ world }) => {
    await define(world, first, second, third);
    const { job } = await definition(world.store, 'first');
    const draft = (unique: Draft['unique']) => ({
      draft: { type: 'work', def: 'first', ...(unique === undefined ? {} : { unique }) },
      after: [], follows: followingRule(undefined, undefined), leader: job,
    });
    const start = async (unique: Draft['unique']): Promise<Created> =>
      (await world.jobs.createFollowers([draft(unique)], 'tester'))[0]!;
    const created = await start({ key: 'one' });
    expect(created.outcome).toBe('created');
    const all = [await runsOf(world, 'first'), await runsOf(world, 'second'), await runsOf(world, 'third')].flat();
    expect(await world.store.flowRuns(created.id, 0, 10)).toEqual(all.map(({ id }) => id));
    expect(all.map(({ tick: of }) => of)).toEqual([null, null, null]);
    expect((await start({ key: 'one' })).outcome).toBe('existing');
    expect((await start({ key: 'one', onTaken: 'update' })).outcome).toBe('updated');
    expect(await Promise.all(['first', 'second', 'third'].map((name) => standingsOf(world, name))))
      .toEqual([['pending'], ['held by runs'], ['held by runs']]);
    for (const name of ['first', 'second', 'third']) await end(world, name);
    expect(await standingsOf(world, 'third')).toEqual(['succeeded']);
    const many = await world.jobs.createFollowers([draft(undefined), draft({ key: 'two' })], 'tester');
    for (const { id } of many) {
      expect((await world.store.load(await world.store.flowRuns(id, 0, 10))).map(({ def }) => def))
        .toEqual(['first', 'second', 'third']);
    }
  });

  test('what cannot be followed is refused, and nothing is stored', async ({ world }) => {
    await define(world, first);
    expect(await codeOf(define(world, third))).toBe('unknown.definition');
    expect(await codeOf(definition(world.store, 'third'))).toBe('unknown.definition');
    await define(world, second, third);
    expect(await codeOf(override(world.jobs, 'first', { after: ['third'] }, tester))).toBe('malformed.flow');
    expect(await codeOf(override(world.jobs, 'second', { after: ['second'] }, tester))).toBe('malformed.flow');
    await define(world, jobDef('other', work, { schedules: every('1m') }));
    expect(await codeOf(override(world.jobs, 'third', { after: ['second', 'other'] }, tester))).toBe('malformed.flow');
    expect(await followersOf(world, 'other')).toEqual([]);
    expect((await definition(world.store, 'third')).spec.after).toEqual(['second']);
  });

  test('a definition that others follow cannot be deleted', async ({ world }) => {
    await define(world, first, second);
    expect(await codeOf(undefine(world.store, 'first', tester))).toBe('followed.definition');
    await undefine(world.store, 'second', tester);
    expect(await followersOf(world, 'first')).toEqual([]);
    await undefine(world.store, 'first', tester);
  });

  test('an override lets a scheduled definition follow, and its removal brings the schedule back', async ({ world }) => {
    const other = jobDef('other', work, { schedules: every('1m') });
    await define(world, first, other);
    await override(world.jobs, 'other', { after: ['first'] }, tester);
    expect(await followersOf(world, 'first')).toEqual(['other']);
    expect((await definition(world.store, 'other')).nextDue).toBeNull();
    await tick(world);
    expect(await standingsOf(world, 'other')).toEqual(['held by runs']);
    await override(world.jobs, 'other', { after: null }, tester);
    expect(await followersOf(world, 'first')).toEqual([]);
    expect((await definition(world.store, 'other')).nextDue).not.toBeNull();
  });

  test('of on and afterFailure, the one that was overridden last counts', async ({ world }) => {
    await define(world, first, follower('second', { after: 'first', on: 'failed' }));
    const rule = async (): Promise<object> => {
      const { spec: { on = null, afterFailure = null } } = await definition(world.store, 'second');
      return { on, afterFailure };
    };
    await override(world.jobs, 'second', { on: 'ended' }, tester);
    await override(world.jobs, 'second', { afterFailure: 'wait' }, tester);
    expect(await rule()).toEqual({ on: null, afterFailure: 'wait' });
    await override(world.jobs, 'second', { on: 'ended' }, tester);
    expect(await rule()).toEqual({ on: 'ended', afterFailure: null });
    await override(world.jobs, 'second', { on: null }, tester);
    expect(await rule()).toEqual({ on: 'failed', afterFailure: null });
  });

  test('two changes that are valid alone do not form a cycle together', async ({ world }) => {
    await define(world, first, second, jobDef('other', work), follower('late', { after: 'other' }));
    const again = await world.again();
    const answers = await Promise.allSettled([
      override(world.jobs, 'other', { after: ['second'] }, tester),
      override(again, 'first', { after: ['late'] }, tester),
    ]);
    expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : [])))
      .toEqual([expect.objectContaining({ code: 'malformed.flow' })]);
  });

  test('a deploy turns a sequence around in one commit', async ({ world }) => {
    await define(world, first, second, third);
    const turned = [
      follower('first', { after: 'second' }), follower('second', { after: 'third' }),
      jobDef('third', work, { schedules: every('1m') }),
    ].map(({ name, spec, enabled }) => ({ name, spec, enabled, build: 'new' }));
    expect(await declareConnected(world.jobs, turned, 'code')).toEqual([]);
    expect(await Promise.all(['first', 'second', 'third'].map((name) => followersOf(world, name))))
      .toEqual([[], ['first'], ['second']]);
  });
});
