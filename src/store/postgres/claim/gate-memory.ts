/** What an instance remembers of its claims at gates, from one claim to the next. See gates.ts. */
import { systemRandom } from '../../../random.ts';
import { systemClock } from '../../../time/clock.ts';
import { GateMemory } from '../../gate-admission.ts';
import { ScanCursors } from './scan-cursor.ts';

export class PostgresGateMemory extends GateMemory {
  /** Where the next claim of a request starts reading the jobs at gates. */
  readonly cursors: ScanCursors;
  /** Whether the last claim left out a job because the gate of that job had no room. */
  isCrowded = false;
  /** Gates of jobs that use named limits, as the last claim saw them. */
  limitedGates: readonly string[] = [];
  /** Whether the last claim saw the spread of a resume. */
  hasSpreads = false;

  constructor(random = systemRandom, clock = systemClock) {
    super(random);
    this.cursors = new ScanCursors(clock);
  }
}
