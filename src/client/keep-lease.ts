/** The heartbeats of a job that an HTTP worker holds. They extend its lease, and their answers report a cancel. */
import { Cancelled, LeaseLost } from '../engine/handler/errors.ts';
import type { Answer } from '../http/contract.ts';
import type { Clock } from '../time/clock.ts';
import type { Client } from './client.ts';
import { isFinal } from './http-errors.ts';
import type { HttpJob } from './http-job.ts';

export interface LeaseOptions {
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
  /** Ends the heartbeats. */
  readonly over: AbortSignal;
}

/** Sends three heartbeats per lease until the job is over or lost. Aborts the signal of the job if it is lost. */
export async function keepLease(client: Client, job: HttpJob, options: LeaseOptions): Promise<void> {
  const { leaseMs, clock, onError, over } = options;
  for (let leaseUntil = clock.monotonic() + leaseMs; ; ) {
    await clock.sleep(leaseMs / 3, over);
    if (over.aborted) return;
    const sentAt = clock.monotonic();
    if (sentAt >= leaseUntil) return job.abort(new LeaseLost('no heartbeat has reached the server in time'));
    try {
      const { isCancelled, cancel } = await beat(client, job, options);
      leaseUntil = sentAt + leaseMs;
      if (isCancelled) job.abort(new Cancelled(cancel?.why ?? 'the job was cancelled'));
    } catch (error) {
      if (over.aborted) return;
      if (isFinal(error)) return job.abort(new LeaseLost(error.message));
      onError(error as Error);
    }
  }
}

async function beat(
  client: Client,
  { id, view: { fence } }: HttpJob,
  { leaseMs, clock, over }: LeaseOptions,
): Promise<Answer<'heartbeat'>> {
  const late = new AbortController();
  const cancel = clock.after(leaseMs / 3, () => late.abort(new Error('no answer to a heartbeat in time')));
  try {
    const signal = AbortSignal.any([late.signal, over]);
    return await client.call('heartbeat', { params: { id }, body: { fence, leaseMs } }, { signal });
  } finally {
    cancel();
  }
}
