// The finisher: outcomes that end together are stored together, and one that cannot be stored harms no other.
import { expect, test } from 'vitest';
import type { CommandAnswer, CommandRequest } from '../../src/apply.ts';
import { Finisher } from '../../src/engine/attempt/finisher.ts';
import { silent } from '../../src/logger.ts';
import { JobWatchers } from '../../src/engine/attempt/job-watchers.ts';
import type { RunningJob } from '../../src/model/job.ts';
import { seededRandom } from '../../src/random.ts';
import type { Jobs } from '../../src/jobs.ts';
import { Refusal } from '../../src/refusal.ts';
import { VirtualClock } from '../../src/time/clock.ts';

const stored = { before: null, after: null, events: [] };
const askOf = (job: number): CommandRequest => ({ job, command: { do: 'succeed', fence: 1 } });

const outcome = (finisher: Finisher, job: number): Promise<CommandAnswer> =>
  new Promise((told) => finisher.finish(askOf(job), told));

function aFinisher(conclude: (asks: readonly CommandRequest[]) => readonly CommandAnswer[]) {
  const clock = new VirtualClock(0);
  const calls: (readonly CommandRequest['job'][])[] = [];
  const jobs = {
    concludeOwn: async (asks: readonly CommandRequest[]) => {
      calls.push(asks.map(({ job }) => job));
      return conclude(asks);
    },
  };
  const parts = { clock, random: seededRandom(1), logger: silent, watchers: new JobWatchers(clock) };
  return { clock, calls, finisher: new Finisher(jobs as unknown as Jobs, 'ann', parts) };
}

test('outcomes of one turn share a write', async () => {
  const { calls, finisher } = aFinisher((asks) => asks.map(() => stored));
  await Promise.all([1, 2, 3].map((job) => outcome(finisher, job)));

  expect(calls).toEqual([[1, 2, 3]]);
});

test('an outcome that cannot be stored is refused, and the others are stored', async () => {
  const { finisher } = aFinisher((asks) => {
    if (asks.some(({ job }) => job === 2)) throw new Refusal('malformed.json', 'no');
    return asks.map(() => stored);
  });
  const answers = await Promise.all([1, 2, 3].map((job) => outcome(finisher, job)));

  expect(answers).toEqual([stored, expect.objectContaining({ code: 'malformed.json' }), stored]);
});

test('a job whose release is malformed fails, so that it does not stay claimed', async () => {
  const commands: string[] = [];
  const { finisher } = aFinisher((asks) => asks.map(({ command }) => {
    commands.push(command.do);
    if (command.do === 'release') throw new Refusal('malformed.json', 'no');
    return stored;
  }));
  await finisher.release({ id: 7, fence: 1 } as RunningJob);

  expect(commands).toEqual(['release', 'fail']);
});

test('giving up answers all callers instead of retrying', async () => {
  const { clock, calls, finisher } = aFinisher(() => {
    throw new Error('the store is away');
  });
  const answer = outcome(finisher, 1);
  await clock.advance(60_000);
  const tries = calls.length;
  finisher.stopRetrying();

  expect(await answer).toMatchObject({ code: 'unavailable.store' });
  expect(tries).toBeGreaterThan(5);
  expect(calls).toHaveLength(tries + 1);
});
