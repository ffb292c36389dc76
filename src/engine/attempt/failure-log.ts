/** The failure log: one line for each job that failed and is not retried, at most `linesPerWindow` per second. */
import type { Change } from '../../model/change.ts';
import { withoutSecrets } from '../../model/secrets.ts';
import type { Logger } from '../../logger.ts';
import type { Clock } from '../../time/clock.ts';

const windowMs = 1_000;
const linesPerWindow = 10;
const messageMax = 500;

export class FailureLog {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #since = -Infinity;
  #count = 0;

  constructor({ logger, clock }: { readonly logger: Pick<Logger, 'warn'>; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#logger = logger;
    this.#clock = clock;
  }

  note({ after, events }: Change): void {
    if (after === null || after.error === null || events.at(-1)?.kind !== 'failed') return;
    if (!this.#isWithinLimit()) return;
    const { id, kind, type, attempt, error } = after;
    const [line = ''] = withoutSecrets(error.message).split('\n');
    this.#logger.warn(`${kind} ${id} (${type}) failed: ${line.slice(0, messageMax)}`, { id, type, attempt, code: error.code });
  }

  /**
   * Whether another line may be logged in this window of one second. The first call of a new window logs how many lines
   * were left out in the window before.
   */
  #isWithinLimit(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= windowMs) {
      const left = this.#count - linesPerWindow;
      if (left > 0) this.#logger.warn(`${left} more jobs failed`, { count: left });
      [this.#since, this.#count] = [now, 0];
    }
    this.#count += 1;
    return this.#count <= linesPerWindow;
  }
}
