/** The token file. It is reloaded when it changes, so that revoking a token takes effect without a restart. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '../../logger.ts';
import { Refusal } from '../../refusal.ts';
import type { Clock } from '../../time/clock.ts';
import { readTokens, type TokenRecord } from './tokens.ts';

const tokenFilePollMs = 1_000;

export class TokenFile {
  readonly #path: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #logger: Pick<Logger, 'error'>;
  #records: readonly TokenRecord[];
  #fingerprint: string;
  #readAt: number;

  /**
   * Throws if the file cannot be read. If the file becomes unreadable later, the tokens that were read last stay valid.
   */
  constructor(path: string, clock: Pick<Clock, 'monotonic'>, logger: Pick<Logger, 'error'>) {
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
    this.#fingerprint = fingerprintOf(path);
    this.#records = readTokens(textOf(path));
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
    const fingerprint = fingerprintOf(this.#path);
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    try {
      this.#records = readTokens(textOf(this.#path));
    } catch (error) {
      this.#logger.error('cannot read the token file; the tokens read before stay valid', { error });
    }
  }
}

/**
 * Returns a text that differs if the inode, the modification time or the size of the file has changed; empty: no file.
 * A file that replaces another by a rename has a different inode.
 */
function fingerprintOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

export const tokensIn = (path: string): readonly TokenRecord[] =>
  existsSync(path) ? readTokens(textOf(path)) : [];

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `cannot read the token file ${path}: ${(error as Error).message}`;
    throw new Refusal('malformed.option', message, { path });
  }
}

/** Replaces the file by a rename, so that no reader sees a half-written file. Only its owner can read it. */
export function writeTokens(path: string, records: readonly TokenRecord[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${JSON.stringify(records, null, 2)}\n`, { mode: 0o600 });
  chmodSync(written, 0o600);
  renameSync(written, path);
}
