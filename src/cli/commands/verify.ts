/** `stint verify`: checks the invariants that a database can show, even while instances use it. */
import type { Command } from 'commander';
import { storeUrl } from '../../open/store-url.ts';
import { systemClock } from '../../time/clock.ts';
import type { verify as verifyJobs, VerifyProgress, Violation } from '../../verify.ts';
import { counted, harmless, printJson, printLine, styled } from '../print.ts';
import { addStoreFlags, openCurrent, type CommonFlags } from '../session.ts';

/** How many violations are printed. Further ones are only counted. */
const shownMax = 1000;
const progressMs = 200;
const exitCodeBroken = 1;

export function verifyCommand(program: Command): void {
  const description = 'check every invariant of a database; exit code 1: violations were found';
  addStoreFlags(program.command('verify').description(description)).action(verifyStore);
}

interface VerifyFinding extends VerifyProgress {
  readonly violations: readonly Violation[];
  readonly count: number;
}

async function verifyStore({ store: url, json = false }: CommonFlags): Promise<void> {
  const { verify } = await import('../../verify.ts');
  const store = await openCurrent(storeUrl(url));
  try {
    const meter = new Meter(!json);
    const finding = await find(verify(store, { onProgress: (progress) => meter.show(progress) }), (violation) => {
      meter.clear();
      if (!json) printLine(`${styled('red', violation.invariant)}  ${harmless(violation.sentence)}`);
    });
    meter.clear();
    if (finding.count > 0) process.exitCode = exitCodeBroken;
    if (json) printJson(finding);
    else printLine(summaryOf(finding));
  } finally {
    await store.close();
  }
}

async function find(
  verifying: ReturnType<typeof verifyJobs>,
  onFound: (violation: Violation) => void,
): Promise<VerifyFinding> {
  const violations: Violation[] = [];
  for (let count = 0; ; count++) {
    const { done, value } = await verifying.next();
    if (done) return { ...value, count, violations };
    if (count >= shownMax) continue;
    violations.push(value);
    onFound(value);
  }
}

function summaryOf({ jobs, events, count }: VerifyFinding): string {
  const found = count === 0 ? 'no violations' : counted(count, 'violation');
  return `${found} found in ${counted(jobs, 'job')} with ${counted(events, 'event')}`;
}

/** The progress of the check, on one line of the terminal. The line is erased at the end. */
class Meter {
  readonly #isShown: boolean;
  #shownAt = -Infinity;

  constructor(isEnabled: boolean) {
    this.#isShown = isEnabled && process.stderr.isTTY;
  }

  show({ jobs, events }: VerifyProgress): void {
    const now = systemClock.monotonic();
    if (!this.#isShown || now - this.#shownAt < progressMs) return;
    this.#shownAt = now;
    process.stderr.write(`\r${jobs} jobs, ${events} events …`);
  }

  clear(): void {
    if (this.#isShown) process.stderr.write('\r\u001b[K');
  }
}
