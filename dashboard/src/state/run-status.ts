/** The status of a run as text: its state, why it waits, or that a cancel was requested. */
import type { RunDetail, RunView } from '../../../src/http/contract.ts';
import { duration } from '../format.ts';

export type Standing = RunView['standing'];

/** Every status that has a colour and an icon: the standings, and a requested cancel. */
export type Status = Standing | 'cancelling';

export interface StatusLabel {
  readonly status: Status;
  readonly text: string;
}

type StatusFields = Pick<RunView, 'standing' | 'state' | 'hold' | 'cancel' | 'dueAt' | 'attempt' | 'phase'>;

/** A run that waits for an answer without a timeout is due in the year 9999. */
const noTimeoutDue = Date.UTC(9999, 0);
export const isDueWhenAnswered = ({ dueAt }: Pick<RunView, 'dueAt'>): boolean => dueAt >= noTimeoutDue;

export function statusLabel(run: StatusFields, now: number): StatusLabel {
  if (run.state === 'ended') return { status: run.standing, text: run.standing };
  if (run.cancel !== null) return { status: 'cancelling', text: 'cancelling' };
  if (run.state === 'held') return holdLabels[run.hold ?? 'pause'];
  if (run.state === 'running') return { status: 'running', text: phaseTexts[run.phase] };
  if (isDueWhenAnswered(run)) return { status: 'pending', text: 'waits for an answer' };
  if (run.attempt > 0 && run.dueAt > now) {
    return { status: 'pending', text: `retrying in ${duration(wholeSeconds(run.dueAt - now))}` };
  }
  return { status: 'pending', text: run.dueAt > now ? 'scheduled' : 'pending' };
}

const holdLabels: Readonly<Record<NonNullable<RunView['hold']>, StatusLabel>> = {
  children: { status: 'running', text: 'running tasks' },
  runs: { status: 'held', text: 'waits for runs' },
  parent: { status: 'held', text: 'waiting for parent' },
  pause: { status: 'held', text: 'paused' },
};

const phaseTexts: Readonly<Record<RunView['phase'], string>> = {
  prepare: 'preparing', run: 'running', gather: 'gathering',
};

const wholeSeconds = (ms: number): number => Math.ceil(ms / 1_000) * 1_000;

/**
 * Returns the start of the first attempt; null: the run has not started. `startedAt` is the start of the newest
 * attempt, which may only gather results.
 */
export const firstStartOf = ({ attempts, startedAt }: RunDetail): number | null => attempts.at(-1)?.start ?? startedAt;

/**
 * Returns the time from which the duration of a run is measured, in lists and on its page; null: the run waits to
 * start. This is the start of its newest attempt. A run that gathers results is measured from its creation, because its
 * newest attempt began after its tasks.
 */
export const startOf = ({ state, phase, createdAt, startedAt }: RunView): number | null =>
  phase === 'gather' ? createdAt : state === 'pending' ? null : startedAt;

export const standings: readonly Standing[] = ['pending', 'held', 'running', 'succeeded', 'failed', 'cancelled'];
export const isOpen = ({ state }: Pick<RunView, 'state'>): boolean => state !== 'ended';
