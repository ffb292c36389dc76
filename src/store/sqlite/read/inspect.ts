/**
 * Executes users' SQL queries, each in a process of its own, one at a time. A query may run without end, and
 * node:sqlite cannot interrupt one; the process is killed.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '../../../random.ts';
import { Refusal } from '../../../refusal.ts';
import { systemClock } from '../../../time/clock.ts';
import type { Inspection, InspectionLimits } from '../../store.ts';
import type { InspectorOrder, InspectorReport } from './inspector.ts';

const startMs = 10_000;
const inspector = new URL(`./inspector${import.meta.url.slice(-3)}`, import.meta.url);

export class Inspector {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  inspect(sql: string, limits: InspectionLimits): Promise<Inspection> {
    const order = { path: this.#path, secret: `secret_${systemRandom.hex(16)}`, sql, rowsMax: limits.rowsMax };
    const inspection = this.#last.then(() => inspectOnce(order, limits.timeMs));
    this.#last = inspection.catch(() => {});
    return inspection;
  }
}

async function inspectOnce(order: InspectorOrder, timeMs: number): Promise<Inspection> {
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
  const child = fork(fileURLToPath(inspector), { execArgv: [], serialization: 'advanced', stdio: [...stdio] });
  try {
    child.send(order);
    const report = await reportOf(child, timeMs);
    if (report.kind === 'found') return report.inspection;
    throw new Refusal(report.code, report.message);
  } finally {
    child.kill('SIGKILL');
  }
}

type LastReport = Exclude<InspectorReport, { kind: 'ready' }>;

/** The time limit starts when the process is ready. */
function reportOf(child: ChildProcess, timeMs: number): Promise<LastReport> {
  return new Promise((resolve) => {
    const refuse = (message: string): void => resolve({ kind: 'refused', code: 'costly.query', message });
    const giveUp = (): void => refuse(`the query takes longer than ${timeMs} ms`);
    let stopTimer = systemClock.after(startMs, giveUp);
    child.on('message', (report: InspectorReport) => {
      stopTimer();
      if (report.kind === 'ready') stopTimer = systemClock.after(timeMs, giveUp);
      else resolve(report);
    });
    child.on('error', giveUp);
    child.on('exit', () => {
      stopTimer();
      refuse('the query could not be answered: its process ended');
    });
  });
}
