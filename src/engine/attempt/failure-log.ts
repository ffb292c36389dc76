/**
 * The failure log: one line for each job that failed and is not retried, at most `linesPerWindow` per second. If more
 * jobs fail within a second, one line at the end of that second gives the number of jobs that got no line.
 */
import type { Change } from '../../model/change.ts';
import { withoutSecrets } from '../../model/secrets.ts';
import type { Logger } from '../../logger.ts';
import type { Clock } from '../../time/clock.ts';

const windowMs = 1_000;
const linesPerWindow = 10;
const messageMax = 500;

export interface FailureLogParts {
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** Whether the lines leave out the messages of errors, which may contain parts of payloads. */
  readonly hidesErrors?: boolean;
}

export class FailureLog {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly #hidesErrors: boolean;
  #since = -Infinity;
  #count = 0;

  constructor({ logger, clock, hidesErrors = false }: FailureLogParts) {
    this.#hidesErrors = hidesErrors;
    this.#logger = logger;
    this.#clock = clock;
  }

  note({ after, events }: Change): void {
    if (after === null || after.error === null || events.at(-1)?.kind !== 'failed') return;
    if (!this.#isWithinLimit()) return;
    const { id, kind, type, attempt, error } = after;
    const [line = ''] = this.#hidesErrors ? [] : withoutSecrets(error.message).split('\n');
    const cause = line === '' ? '' : `: ${line.slice(0, messageMax)}`;
    this.#logger.warn(`${kind} ${id} (${type}) failed${cause}`, { id, type, attempt, code: error.code });
  }

  /** Counts a failure; returns whether it may get a line of its own in this window of one second. */
  #isWithinLimit(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= windowMs) this.#startWindow(now);
    this.#count += 1;
    if (this.#count === linesPerWindow + 1) this.#logRestLater(this.#since + windowMs - now);
    return this.#count <= linesPerWindow;
  }

  #startWindow(now: number): void {
    this.#logRest();
    this.#since = now;
    this.#count = 0;
  }

  #logRestLater(ms: number): void {
    const since = this.#since;
    this.#clock.after(ms, () => {
      if (this.#since === since) this.#logRest();
    });
  }

  /** Logs how many failures of this window got no line, and subtracts them from `#count`: they are logged only once. */
  #logRest(): void {
    const left = this.#count - linesPerWindow;
    if (left > 0) this.#logger.warn(`${left} more jobs failed`, { count: left });
    this.#count = Math.min(this.#count, linesPerWindow);
  }
}
