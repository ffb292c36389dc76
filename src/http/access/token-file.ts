/** The token file: who may do what, read again when it changes, so that a token that was taken back is of no use. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../../logger.ts';
import type { Clock } from '../../time/clock.ts';
import { readTokens, type TokenRecord } from './tokens.ts';

const tokenFilePollMs = 1_000;

export class TokenFile {
  readonly #path: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #logger: Pick<Logger, 'error'>;
  #records: readonly TokenRecord[];
  #seen: string;
  #readAt: number;

  /** Refuses a file that cannot be read now; later the tokens that were read last stay. */
  constructor(path: string, clock: Pick<Clock, 'monotonic'>, logger: Pick<Logger, 'error'>) {
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
    this.#seen = marks(path);
    this.#records = readTokens(readFileSync(path, 'utf8'));
    this.#readAt = clock.monotonic();
  }

  get records(): readonly TokenRecord[] {
    const now = this.#clock.monotonic();
    if (now - this.#readAt < tokenFilePollMs) return this.#records;
    this.#readAt = now;
    this.#reload();
    return this.#records;
  }

  #reload(): void {
    const seen = marks(this.#path);
    if (seen === this.#seen) return;
    this.#seen = seen;
    try {
      this.#records = readTokens(readFileSync(this.#path, 'utf8'));
    } catch (error) {
      this.#logger.error('the tokens cannot be read: those that were read before still count', { error });
    }
  }
}

/** What tells one version of a file from the next; a file that is written anew and renamed has another number. */
function marks(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** The tokens of a file that need not be there yet. */
export const tokensIn = (path: string): readonly TokenRecord[] =>
  existsSync(path) ? readTokens(readFileSync(path, 'utf8')) : [];

/** Whole or not at all, and for nobody else to read. */
export function writeTokens(path: string, records: readonly TokenRecord[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify(records, null, 2)}\n`, { mode: 0o600 });
  chmodSync(written, 0o600);
  renameSync(written, path);
}
