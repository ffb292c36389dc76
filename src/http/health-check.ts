/**
 * The health check: whether the store accepts a write within a time limit. Requests within a second share one check, so
 * that the cost does not grow with their number.
 */
import { isRefusal, refusalCodes } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { settlesWithin } from '../time/settles-within.ts';
import { version } from '../version.ts';
import type { Answer } from './contract.ts';

const answerMaxMs = 2_000;
const sharedMs = 1_000;

type HealthFailure = string | null;

export class HealthCheck {
  readonly #store: Pick<Store, 'lead'>;
  readonly #clock: Clock;
  #attempt: Promise<HealthFailure> | null = null;
  #checkedAt = -Infinity;
  #last: HealthFailure = null;

  constructor(store: Pick<Store, 'lead'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Checks the store, unless a check has ended within the last second. Returns the reason why the store accepts no
   * writes; null: the store accepts writes.
   */
  async failure(): Promise<HealthFailure> {
    if (this.#clock.monotonic() - this.#checkedAt < sharedMs) return this.#last;
    const attempt = (this.#attempt ??= this.#try());
    if (await settlesWithin(this.#clock, answerMaxMs, attempt)) return attempt;
    return `the store has not answered for ${answerMaxMs / 1000} s`;
  }

  /**
   * Takes the role `health` for 0 ms, which writes and commits a row. Each call raises the number `term` in this row;
   * SQLite would not write an unchanged row.
   */
  async #try(): Promise<HealthFailure> {
    this.#last = await this.#store.lead('health', 'health check', 0).then(() => null, reasonOf);
    this.#checkedAt = this.#clock.monotonic();
    this.#attempt = null;
    return this.#last;
  }
}

/** Returns what `/health` answers. */
export async function healthOf(check: HealthCheck): Promise<Answer<'health'>> {
  const reason = await check.failure();
  return reason === null ? { status: 'ok', version } : { status: 'failing', reason, version };
}

/** Returns the public reason for an error, without the error's message, which may contain addresses and paths. */
function reasonOf(error: unknown): string {
  if (!isRefusal(error)) return 'the store fails';
  const { reason } = error.detail;
  return typeof reason === 'string' ? reason : refusalCodes[error.code];
}
