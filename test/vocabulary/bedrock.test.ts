// Bedrock: the times in the protocol. Its states are in the table.
import { describe, expect, test } from 'vitest';
import type { Job } from '../../src/model/job.ts';
import { bedrockState, created, lastRun, nextRun } from '../../src/vocabulary/bedrock.ts';
import { again, bornAt, claim, lapse, made, on, requeue } from './made.ts';

const bedrock = { kind: 'bedrock' } as const;
const retryAfter = { ...bedrock, policy: { retryAfter: '+5 MINUTES' } };
const hour = 3_600_000;
const timesOf = ({ job }: { job: Job }): string[] => [created(job), nextRun(job), lastRun(job)];

describe('the times of a Bedrock job', () => {
  test('are UTC to the second, and lastRun is empty before the first run', () => {
    expect(timesOf(made({ ...bedrock, created: bornAt + 999, first: { due: bornAt + hour } }))).toEqual([
      '2026-03-01 12:00:00', '2026-03-01 13:00:00', '',
    ]);
  });

  test('nextRun of a RUNNING job stays what it was', () => {
    const running = made(bedrock, [90_000, claim('w1', bornAt + hour)]);
    expect(timesOf(running)).toEqual(['2026-03-01 12:00:00', '2026-03-01 12:00:00', '2026-03-01 12:01:30']);
  });

  test('nextRun of a RUNQUEUED job is when it will be handed out again', () => {
    const running = made(retryAfter, [90_000, claim('w1', bornAt + hour)]);
    expect(timesOf(running)).toEqual(['2026-03-01 12:00:00', '2026-03-01 12:06:30', '2026-03-01 12:01:30']);
  });

  test('a RUNQUEUED job whose lease has no end shows its due time', () => {
    const handOff = ({ fence }: Job) => ({ do: 'handOff', fence, holder: 'outside', until: null }) as const;
    const { job } = made(retryAfter, [90_000, claim()], [91_000, handOff]);
    expect([bedrockState(job), nextRun(job)]).toEqual(['RUNQUEUED', '2026-03-01 12:00:00']);
  });

  test('a job whose lease lapsed stays RUNQUEUED, and its nextRun is the end of its lease', () => {
    const lapsed = made(retryAfter, [90_000, claim()], [400_000, lapse()]);
    expect(bedrockState(lapsed.job)).toBe('RUNQUEUED');
    expect(timesOf(lapsed)).toEqual(['2026-03-01 12:00:00', '2026-03-01 12:06:30', '2026-03-01 12:01:30']);
    const requeued = on(lapsed, [500_000, requeue(bornAt)]);
    expect(bedrockState(requeued.job)).toBe('QUEUED');
    expect(timesOf(requeued)).toEqual(['2026-03-01 12:00:00', '2026-03-01 12:00:00', '2026-03-01 12:01:30']);
  });

  test('retried, it keeps its lastRun and has a new nextRun', () => {
    const retried = made(retryAfter, [60_000, claim()], [120_000, again(bornAt + hour)]);
    expect(timesOf(retried)).toEqual(['2026-03-01 12:00:00', '2026-03-01 13:00:00', '2026-03-01 12:01:00']);
  });
});
