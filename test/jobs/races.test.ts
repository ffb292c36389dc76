// Races on one store: of conflicting commands exactly one wins, and every history replays (the world checks that).
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { applyEach } from '../../src/apply.ts';
import { answerWait, closeWait } from '../../src/jobs/answer.ts';
import type { Jobs } from '../../src/jobs.ts';
import type { Job } from '../../src/model/job.ts';
import { isRefusal, type Refusal } from '../../src/refusal.ts';
import { sampleSize } from '../support/size.ts';
import { stores } from '../support/stores.ts';
import { broken, minute, refusalOf, startOfTime, tester, testOn, World } from './world.ts';

/** How many went through; the others must be refused, and with one of these codes. */
async function winners(asked: readonly Promise<unknown>[], codes: readonly string[]): Promise<number> {
  const answers = await Promise.allSettled(asked);
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(codes).toContain((answer.reason as Refusal).code ?? answer.reason);
  }
  return answers.filter(({ status }) => status === 'fulfilled').length;
}

describe.each(stores)('races on $name', (kind) => {
  const test = testOn(kind);

  test('a job is handed to one of many claimers', async ({ world }) => {
    const other = await world.again();
    await world.jobs.createMany(Array(30).fill({ type: 'plain' }), 'producer');
    const ask = { leaseMs: minute, kinds: ['run'], names: { glob: '*' }, limit: 4 } as const;
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 === 0 ? world.jobs : other).claim({ ...ask, holder: `worker ${at}` }),
      ),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
  });

  test('of many outcomes under one fence one is stored', async ({ world }) => {
    const other = await world.again();
    const { id, fence } = await world.running();
    const asked = Array.from({ length: 9 }, (_, at) => {
      const jobs = at % 2 === 0 ? world.jobs : other;
      if (at % 3 === 0) return jobs.succeed(id, fence, tester, String(at));
      return at % 3 === 1 ? jobs.fail(id, fence, broken, tester, false) : jobs.release(id, fence, tester);
    });
    expect(await winners(asked, ['lost.lease'])).toBe(1);
  });

  test('answers against the timeout of a wait: one is stored, and the others are told', async ({ world }) => {
    const other = await world.again();
    const question = '{"ask":null,"schema":null,"role":"operator","notBy":[],"until":null,"tokenHash":null}';
    for (const first of ['answer', 'timeout', 'both'] as const) {
      const { id, fence } = await world.running();
      const wait = { job: id, fence, name: 'ok', n: 1, kind: 'wait', startedAt: 1, endedAt: null, result: null, question } as const;
      expect(await world.jobs.store.writeSteps([wait])).toEqual([true]);
      const given = { name: 'ok', value: 1, answerer: { by: 'ada', role: 'admin' }, check: async () => null } as const;
      const answer = ({ store }: Jobs) => answerWait(store, id, given, tester);
      const timeout = () => closeWait(other.store, { id, fence }, { name: 'ok', cause: 'timeout' }, tester);
      if (first === 'answer') await answer(world.jobs);
      if (first === 'timeout') await timeout();
      await Promise.allSettled([answer(world.jobs), timeout(), answer(other)]);
      expect((await refusalOf(answer(world.jobs))).code).toBe('taken.answer');
      expect(await timeout()).toMatchObject({ change: null, step: { name: 'ok' } });
      const kinds = (await world.jobs.history(id)).map(({ kind }) => kind).filter((kind) => kind.endsWith('answered'));
      expect(kinds).toHaveLength(1);
      if (first !== 'both') expect(kinds).toEqual([first === 'answer' ? 'answered' : 'unanswered']);
    }
  });

  test('answers against a cancel of a run that waits: no answer counts after the cancel, and each is told', async ({ world }) => {
    const other = await world.again();
    const question = '{"ask":null,"schema":null,"role":"operator","notBy":[],"until":null,"tokenHash":null}';
    for (let round = 0; round < 12; round += 1) {
      const { id, fence } = await world.running();
      const wait = { job: id, fence, name: 'ok', n: 1, kind: 'wait', startedAt: 1, endedAt: null, result: null, question } as const;
      expect(await world.jobs.store.writeSteps([wait])).toEqual([true]);
      const answer = ({ store }: Jobs, value: number) =>
        answerWait(store, id, { name: 'ok', value, answerer: { by: 'ada', role: 'admin' }, check: async () => null }, tester);
      const timeout = () => closeWait(other.store, { id, fence }, { name: 'ok', cause: 'timeout' }, tester);
      const asked = [() => answer(world.jobs, 1), () => other.cancel(id, tester), () => answer(other, 2), timeout];
      const turned = asked.map((_, at) => asked[(at + round) % asked.length]!());
      const settled = await Promise.allSettled(turned);
      const codes = settled.map((one) => (one.status === 'rejected' ? (one.reason as Refusal).code : 'done'));
      const events = (await world.jobs.history(id)).map(({ kind }) => kind).slice(2);
      const ends = events.filter((kind) => kind.endsWith('answered'));
      expect(ends, codes.join()).toHaveLength(1);
      expect(events.indexOf('answered') > events.indexOf('cancelAsked'), events.join()).toBe(false);
      const [first, second] = [0, 2].map((at) => codes[(at - round % 4 + 4) % 4]);
      expect([first, second].filter((code) => code === 'done')).toHaveLength(ends[0] === 'answered' ? 1 : 0);
      for (const code of [first, second]) expect(['done', 'taken.answer', 'wrong.state']).toContain(code);
    }
  });

  test('finish against cancel: one comes first, and the other knows', async ({ world }) => {
    const other = await world.again();
    const seen = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const { id, fence } = await world.running();
      const finish = (): Promise<unknown> => world.jobs.succeed(id, fence, tester);
      const cancel = (): Promise<unknown> => other.cancel(id, tester);
      const [first, second] = round % 2 === 0 ? [finish, cancel] : [cancel, finish];
      const early = first();
      for (let step = 0; step < round; step += 1) await Promise.resolve(); // a longer head start in each round
      await winners([early, second()], ['wrong.state']);
      const kinds = (await world.events(id)).slice(2);
      expect(['succeeded', 'cancelAsked,cancelled']).toContain(kinds.join());
      seen.add(kinds.join());
    }
    if (kind.name === 'memory') expect(seen.size).toBe(2);
  });

  test('finish against repair: the outcome counts once', async ({ world }) => {
    const { id, fence } = await world.running();
    await world.clock.advance(minute);
    await winners(
      [world.repair(), world.jobs.succeed(id, fence, tester), world.repair()],
      ['lost.lease', 'wrong.state'],
    );
    const kinds = await world.events(id);
    expect(['created,claimed,lapsed', 'created,claimed,succeeded']).toContain(kinds.join());
  });

  test('many repairers leave one repair', async ({ world }) => {
    const other = await world.again();
    const job = await world.running();
    await world.clock.advance(minute);
    const over = await world.store.lapsed(10);
    const repair = (jobs: Jobs) =>
      jobs.conclude(
        over.map((one) => ({ job: one, command: { do: 'lapse' } as const })),
        tester,
      );
    const answers = (await Promise.all([repair(world.jobs), repair(other), repair(world.jobs)])).flat();
    expect(answers.filter((answer) => !isRefusal(answer))).toHaveLength(1);
    expect(await world.events(job)).toEqual(['created', 'claimed', 'lapsed']);
  });

  test('extending against repair: a lease that lapsed is not extended', async ({ world }) => {
    const job = await world.running();
    await world.clock.advance(minute);
    const [extended] = await Promise.all([
      world.jobs.extend([{ id: job.id, fence: job.fence }], minute),
      world.repair(),
    ]);
    expect(extended).toEqual([false]);
    // The first repair leaves a job that is locked by the extension to the next one.
    await world.repair();
    expect(await world.standing(job)).toBe('pending');
  });

  test('pause against claim: a paused job is not running, a running one not paused', async ({ world }) => {
    const other = await world.again();
    for (let round = 0; round < 10; round += 1) {
      const { id } = await world.create();
      const [claimed, paused] = await Promise.allSettled([world.claimIds(), other.pause(id, tester)]);
      const wasClaimed = claimed.status === 'fulfilled' && claimed.value.includes(id);
      expect(wasClaimed).toBe(paused.status === 'rejected');
      expect(await world.standing(id)).toBe(wasClaimed ? 'running' : 'held by pause');
    }
  });

  test('concurrent edits are all applied, one after the other', async ({ world }) => {
    const other = await world.again();
    const { id } = await world.create();
    await Promise.all(
      Array.from({ length: 15 }, (_, at) =>
        (at % 2 === 0 ? world.jobs : other).edit(id, { priority: at }, { by: `editor ${at}` }),
      ),
    );
    const edits = (await world.jobs.history(id)).filter((event) => event.kind === 'edited');
    expect(new Set(edits.map(({ by }) => by)).size).toBe(15);
  });

  test('children created while the parent is stopped are refused or stopped with it', async ({ world }) => {
    const other = await world.again();
    for (let round = 0; round < 10; round += 1) {
      const { run } = await world.family(1);
      await winners(
        [
          other.createChildren(run.id, [{ type: 'late' }], 'worker'),
          world.jobs.stop(run.id, tester),
          other.createChildren(run.id, [{ type: 'late' }], 'worker'),
        ],
        ['wrong.state'],
      );
      for (const task of await world.tasksOf(run)) expect(await world.standing(task)).toBe('cancelled');
    }
  });

  test('a job that changes all the time is refused after a number of tries', async ({ world }) => {
    const { id } = await world.create();
    let tries = 0;
    const commit = world.store.commit.bind(world.store);
    world.store.commit = () => {
      tries += 1;
      return Promise.resolve([false]);
    };
    await expect(applyEach(world.store, [{ job: id, command: { do: 'pause' } }], tester)).rejects.toMatchObject({
      code: 'contended',
      detail: { id },
    });
    world.store.commit = commit;
    expect(tries).toBe(50);
  });

  test('what must be written together is given up on alike', async ({ world }) => {
    const { run } = await world.family(1);
    const commit = world.store.commit.bind(world.store);
    world.store.commit = async ({ changes }) => changes.map(() => false);
    const refusal = await refusalOf(world.jobs.createChildren(run.id, [{ type: 'child' }], 'worker'));
    world.store.commit = commit;
    expect(refusal).toMatchObject({ code: 'contended', detail: { id: run.id } });
  });

  test('a key that changes its holder all the time is refused after a number of tries', async ({ world }) => {
    const commit = world.store.commit.bind(world.store);
    world.store.commit = async ({ changes }) => changes.map(() => false);
    const refusal = await refusalOf(world.ask({ unique: { key: 'k' } }));
    world.store.commit = commit;
    expect(refusal).toMatchObject({ code: 'contended', detail: { key: 'k' } });
  });

  test('two outcomes, a cancel and a pause asked in one call are decided one after the other', async ({ world }) => {
    const job = await world.running();
    const answers = await world.jobs.conclude(
      [
        { job, command: { do: 'cancel', code: 'user' } },
        { job, command: { do: 'release', fence: job.fence } },
        { job: job.id, command: { do: 'pause' } },
        { job: job.id, command: { do: 'retry', reopens: 0 } },
      ],
      tester,
    );
    expect(answers.map((answer) => (isRefusal(answer) ? answer.code : answer.after!.state))).toContain('ended');
    expect((await world.events(job)).slice(0, 4)).toEqual(['created', 'claimed', 'cancelAsked', 'cancelled']);
  });
});

/** One operation on one of a few jobs. */
type Move = { readonly act: keyof typeof moves; readonly at: number; readonly through: number };

const moves = {
  claim: async (jobs: Jobs) =>
    void (await jobs.claim({
      holder: 'worker',
      leaseMs: minute,
      kinds: ['run', 'task'],
      names: { glob: '*' },
      limit: 2,
    })),
  succeed: async (jobs: Jobs, job: Job) => void (await jobs.succeed(job.id, job.fence || 1, tester, '1')),
  fail: async (jobs: Jobs, job: Job) => void (await jobs.fail(job.id, job.fence || 1, broken, tester)),
  release: async (jobs: Jobs, job: Job) => void (await jobs.release(job.id, job.fence || 1, tester)),
  cancel: async (jobs: Jobs, job: Job) => void (await jobs.cancel(job.id, tester)),
  stop: async (jobs: Jobs, job: Job) => void (await jobs.stop(job.id, tester)),
  pause: async (jobs: Jobs, job: Job) => void (await jobs.pause(job.id, tester)),
  resume: async (jobs: Jobs, job: Job) => void (await jobs.resume(job.id, tester)),
  retry: async (jobs: Jobs, job: Job) => void (await jobs.retry(job.id, tester)),
  edit: async (jobs: Jobs, job: Job) => void (await jobs.edit(job.id, { priority: 1 }, tester)),
  children: async (jobs: Jobs, job: Job) =>
    void (await jobs.createChildren(job.id, [{ type: 'child', kind: 'task' }], 'worker')),
  create: async (jobs: Jobs) =>
    void (await jobs.create({ type: 'keyed', unique: { key: 'k', onTaken: 'update' }, input: 1 }, 'producer')),
} as const;

const expected = new Set(['wrong.state', 'lost.lease', 'unknown.job', 'grandchildren', 'taken.key']);

describe.each(stores)('random races on $name', (kind) => {
  const someMove = fc.record({
    act: fc.constantFrom(...(Object.keys(moves) as (keyof typeof moves)[])),
    at: fc.nat(5),
    through: fc.nat(1),
  });

  testOn(kind)('whatever happens at once, nothing breaks but what is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(someMove, { minLength: 1, maxLength: 6 }), { maxLength: 8 }), (rounds) =>
        play(rounds),
      ),
      { numRuns: sampleSize(kind.name === 'memory' ? 500 : 25), seed: 20260728 },
    );
  });

  async function play(rounds: readonly (readonly Move[])[]): Promise<void> {
    const world = await World.open(kind);
    try {
      const doors = [world.jobs, await world.again()];
      await world.family(2);
      await world.create({ unique: { key: 'k' } });
      for (const round of rounds) {
        const all = await world.everyJob();
        await Promise.all(
          round.map(({ act, at, through }) => moves[act](doors[through]!, all[at % all.length]!).catch(ignoreRefusals)),
        );
        await world.clock.advance(1000);
      }
      await world.check();
      expect(world.now()).toBe(startOfTime + rounds.length * 1000);
    } finally {
      await world.close();
    }
  }

  function ignoreRefusals(error: unknown): void {
    if (!isRefusal(error) || !expected.has(error.code)) throw error;
  }
});
