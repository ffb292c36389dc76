/**
 * What must hold of every stored history, whoever wrote it. The numbers are those of the reliability page: S1 at most
 * one end per generation, S3 fences rise, S26 the history replays, S27 numbers and times, S28 version = newest event.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { endings, type Event, type EventKind } from '../../model/event.ts';
import { evolve, replay, unborn } from '../../model/evolve.ts';
import type { Job } from '../../model/job.ts';
import type { State } from '../../model/state.ts';
import { birthOf } from '../row.ts';
import { same } from './same.ts';

/** Throws if the history is not that of the job. */
export function checkHistory(job: Job, events: readonly Event[]): void {
  checkStamps(job, events);
  checkSteps(job, events);
  checkReplay(job, events);
  checkEndings(job, events);
}

/** S27, S28. */
function checkStamps(job: Job, events: readonly Event[]): void {
  const numbers = events.map(({ n }) => n);
  deepEqual(numbers, events.map((_, index) => index + 1), `S27: the events of job ${job.id} are numbered without gaps`);
  const falls = events.some((event, index) => index > 0 && event.at < events[index - 1]!.at);
  ok(!falls, `S27: time does not fall along the history of job ${job.id}`);
  equal(job.version, events.length, `S28: the version of job ${job.id} is the number of its newest event`);
  equal(job.changed, events.at(-1)?.at, `S28: job ${job.id} changed when its newest event happened`);
  equal(events[0]?.kind, 'created', `S9: the history of job ${job.id} begins with its creation`);
}

/** What may happen to a job in each state; so a lease is over before the next begins (S5), and nothing ends twice. */
const steps: Readonly<Record<State, readonly EventKind[]>> = {
  pending: ['claimed', 'paused', 'cancelled', 'failed', 'edited', 'ticked'],
  held: ['settled', 'freed', 'resumed', 'adopted', 'cancelAsked', 'cancelled', 'failed', 'edited', 'ticked'],
  running: [
    'released', 'lapsed', 'retried', 'handedOff', 'planned', 'adopted', 'cancelAsked', 'succeeded', 'failed',
    'cancelled', 'repeated', 'edited', 'ticked',
  ],
  ended: ['reopened', 'edited'],
};

/** S14: every step is one that the machine makes. */
function checkSteps(job: Job, events: readonly Event[]): void {
  let current = unborn(birthOf(job));
  for (const event of events) {
    const isFirst = current.version === 0;
    const isLegal = isFirst ? event.kind === 'created' : steps[current.state].includes(event.kind);
    ok(isLegal, `S14: job ${job.id} is ${current.state} at event ${event.n}, ${event.kind}`);
    current = evolve(current, event);
  }
}

/** S26, and S3: a fence is the number of claims. */
function checkReplay(job: Job, events: readonly Event[]): void {
  const told = replay(birthOf(job), events);
  same(comparable(job, told), comparable(told, told), `S26: the history of job ${job.id} replays`);
  const claims = events.filter(({ kind }) => kind === 'claimed').length;
  equal(job.fence, claims, `S3: the fence of job ${job.id} is the number of its claims`);
}

/** Input and result are kept beside the history; a lease may have been extended, which is no event. */
function comparable(job: Job, told: Job): object {
  const { input: _input, result: _result, ...rest } = job;
  if (rest.state !== 'running' || told.state !== 'running') return rest;
  const { holder, until } = rest.lease;
  const isExtended = until !== null && told.lease.until !== null && until > told.lease.until;
  return { ...rest, lease: { holder, until: isExtended ? told.lease.until : until } };
}

/** S1: between two ends lies a new generation. */
function checkEndings(job: Job, events: readonly Event[]): void {
  let ends = 0;
  let generation = 1;
  for (const { kind } of events) {
    if (endings.has(kind)) ends += 1;
    if (kind === 'reopened') {
      generation += 1;
      ends = 0;
    }
    ok(ends <= 1, `S1: job ${job.id} ends twice in generation ${generation}`);
  }
  equal(job.state === 'ended', ends === 1, `S1: job ${job.id} has ended if and only if its history says so`);
}
