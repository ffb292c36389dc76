// How long each test file takes, in seconds on two quiet cores: for their order and for the time that is left.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const file = join(import.meta.dirname, 'durations.json');

/** A file that is not listed yet. */
const unknownSeconds = 2;

export class Durations {
  readonly #seconds: Record<string, number> = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>)
    : {};

  of(moduleId: string): number {
    return this.#seconds[nameOf(moduleId)] ?? unknownSeconds;
  }

  /** Notes what was measured; `write` stores it. Files that are gone are dropped. */
  record(moduleId: string, seconds: number): void {
    this.#seconds[nameOf(moduleId)] = Math.max(0.1, Math.round(seconds * 10) / 10);
  }

  write(): void {
    const living = Object.entries(this.#seconds).filter(([name]) => existsSync(join(root, name)));
    const sorted = Object.fromEntries(living.sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
  }
}

export const nameOf = (moduleId: string): string => relative(root, moduleId);
