/** Bedrock: the states and times of a job as the Bedrock protocol tells them. */
import type { Job } from '../model/job.ts';
import type { Fate } from '../model/state.ts';
import { formatTimestamp } from '../time/instant.ts';

export type BedrockState = 'QUEUED' | 'RUNNING' | 'RUNQUEUED' | 'PAUSED' | 'FINISHED' | 'FAILED' | 'CANCELLED';
export const bedrockStates: readonly BedrockState[] = [
  'QUEUED', 'RUNNING', 'RUNQUEUED', 'PAUSED', 'FINISHED', 'FAILED', 'CANCELLED',
];

const wordsOfFates: Readonly<Record<Fate, BedrockState>> = {
  succeeded: 'FINISHED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

export function bedrockState(job: Job): BedrockState {
  switch (job.state) {
    case 'pending':
      return 'QUEUED';
    case 'held':
      return 'PAUSED';
    case 'running':
      return job.policy.retryAfter === undefined ? 'RUNNING' : 'RUNQUEUED';
    case 'ended':
      return wordsOfFates[job.fate];
  }
}

/** When it is handed out next: of a RUNQUEUED job, the moment its worker is given up. */
export function nextRun(job: Job): string {
  const isRunQueued = job.state === 'running' && bedrockState(job) === 'RUNQUEUED';
  return formatTimestamp((isRunQueued ? job.lease.until : null) ?? job.due);
}

/** Empty while it has never been handed out. */
export const lastRun = (job: Job): string => (job.startedAt === null ? '' : formatTimestamp(job.startedAt));

export const created = (job: Job): string => formatTimestamp(job.created);
