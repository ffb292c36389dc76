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

/**
 * Confirms before the handler starts that the job is held. `askedAt`: when the claim was sent, so that the lease began
 * later. While less than two thirds of a lease have passed since then, the lease is safe. Otherwise the answer may have
 * come after the lease, for example because this process was paused, and a heartbeat is sent. Returns the time since which
 * the lease certainly runs; null if the job is lost or its signal is aborted.
 */
export async function confirmLease(client: Client, job: HttpJob, askedAt: number, options: LeaseOptions): Promise<number | null> {
  const { leaseMs, clock, onError } = options;
  for (let since = askedAt; !job.signal.aborted; ) {
    if (clock.monotonic() - since < safeMs(leaseMs)) return since;
    const sentAt = clock.monotonic();
    try {
      const { isCancelled, cancel } = await beat(client, job, options);
      since = sentAt;
      if (isCancelled) job.abort(new Cancelled(cancel?.why ?? 'the job was cancelled'));
    } catch (error) {
      if (isFinal(error)) job.abort(new LeaseLost(error.message));
      else onError(error as Error);
      await clock.sleep(leaseMs / 3, job.signal);
    }
  }
  return null;
}

/**
 * Sends three heartbeats per lease until the job is over or lost. Aborts the signal of the job if it is lost. `since`: the
 * time since which the lease certainly runs.
 */
export async function keepLease(client: Client, job: HttpJob, since: number, options: LeaseOptions): Promise<void> {
  const { leaseMs, clock, onError, over } = options;
  let pauseMs = Math.min(leaseMs / 3, since + safeMs(leaseMs) - clock.monotonic());
  for (let leaseUntil = since + leaseMs; ; pauseMs = leaseMs / 3) {
    await clock.sleep(pauseMs, over);
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

const safeMs = (leaseMs: number): number => (leaseMs * 2) / 3;

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
