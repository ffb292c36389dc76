/** `stint verify`: holds a database against what Stint promises, while others may be at work on it. */
import type { Command } from 'commander';
import { openStore, storeUrl } from '../../open/store.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { systemClock } from '../../time/clock.ts';
import { verify, type VerifyProgress, type Violation } from '../../verify.ts';
import { harmless, printJson, printLine, styled } from '../print.ts';
import { asking, type CommonFlags } from '../session.ts';

/** Others are only counted. */
const shownMax = 1000;
const progressMs = 200;
const exitCodeBroken = 1;

export function verifyCommand(program: Command): void {
  const about = 'whether a database keeps what Stint promises; exit code 1: it does not';
  asking(program.command('verify').description(about)).action(verifyStore);
}

interface VerifyFinding extends VerifyProgress {
  readonly violations: readonly Violation[];
  readonly count: number;
}

async function verifyStore({ store: url, json = false }: CommonFlags): Promise<void> {
  const store = openStore(storeUrl(url));
  try {
    await requireSchema(store);
    const meter = new Meter(!json);
    const finding = await find(verify(store, { onProgress: (progress) => meter.show(progress) }), (violation) => {
      meter.clear();
      if (!json) printLine(`${styled('red', violation.invariant)}  ${harmless(violation.sentence)}`);
    });
    meter.clear();
    if (finding.count > 0) process.exitCode = exitCodeBroken;
    if (json) printJson(finding);
    else printLine(closing(finding));
  } finally {
    await store.close();
  }
}

/** Who only looks changes nothing. */
async function requireSchema(store: Store): Promise<void> {
  const { from, to } = await store.migrate({ dryRun: true });
  if (from === to) return;
  const message = `the database has schema ${from} and this Stint needs ${to}: run stint migrate`;
  throw new Refusal('older.schema', message, { found: from, needed: to });
}

async function find(
  verifying: ReturnType<typeof verify>,
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

const closing = ({ jobs, events, count }: VerifyFinding): string =>
  `${jobs} jobs with ${events} events: ${count === 0 ? 'every promise is kept' : `${count} violations`}`;

/** On a terminal: how far it has come, on one line that goes again. */
class Meter {
  readonly #isShown: boolean;
  #shownAt = -Infinity;

  constructor(isWanted: boolean) {
    this.#isShown = isWanted && process.stderr.isTTY;
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
