// The reporter that says which test files run, how many are done and how long the rest will take.
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { Durations, nameOf } from './durations.ts';

/** Without a terminal, a line is printed at most this often. */
const quietMs = 15_000;

/** `STINT_RECORD_DURATIONS=1` writes what was measured into durations.json. */
const isRecording = process.env['STINT_RECORD_DURATIONS'] === '1';

export default class Progress implements Reporter {
  readonly #durations = new Durations();
  readonly #running = new Map<string, number>();
  readonly #start = performance.now();
  #workers = 1;
  #files = 0;
  #done = 0;
  #expectedSeconds = 0;
  #doneSeconds = 0;
  #printedAt = -Infinity;

  onInit(vitest: Vitest): void {
    this.#workers = Number(vitest.config.maxWorkers) || 1;
  }

  onTestRunStart(files: readonly TestSpecification[]): void {
    this.#files = files.length;
    this.#expectedSeconds = files.reduce((sum, { moduleId }) => sum + this.#durations.of(moduleId), 0);
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#running.set(moduleId, performance.now());
    this.#print();
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    const seconds = (performance.now() - (this.#running.get(moduleId) ?? performance.now())) / 1000;
    this.#running.delete(moduleId);
    this.#done += 1;
    this.#doneSeconds += this.#durations.of(moduleId);
    if (isRecording) this.#durations.record(moduleId, seconds);
    this.#print();
  }

  onTestRunEnd(): void {
    if (process.stdout.isTTY) process.stdout.write('\r\u001b[K');
    if (isRecording) this.#durations.write();
  }

  #print(): void {
    const { isTTY, columns } = process.stdout;
    const now = performance.now();
    if (!isTTY && now - this.#printedAt < quietMs) return;
    this.#printedAt = now;
    const line = this.#line(now);
    process.stdout.write(isTTY ? `\r\u001b[K${line.slice(0, columns - 1)}` : `${line}\n`);
  }

  #line(now: number): string {
    const running = [...this.#running.keys()].map(nameOf).join(', ');
    const left = this.#secondsLeft((now - this.#start) / 1000);
    return `tests: ${this.#done} of ${this.#files} files, ${left}; running ${running || 'none'}`;
  }

  /** From the recorded durations until a tenth is done, then by the pace of this run. */
  #secondsLeft(elapsed: number): string {
    const share = this.#doneSeconds / this.#expectedSeconds;
    const planned = (this.#expectedSeconds - this.#doneSeconds) / this.#workers;
    return `about ${minutes(share < 0.1 ? planned : (elapsed / share) * (1 - share))} left`;
  }
}

function minutes(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
