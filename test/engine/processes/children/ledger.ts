// The ledger: what handlers did, recorded outside the store, one line each, by any process; and gates they wait at.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../../src/index.ts';

export interface Entry {
  readonly what: string;
  readonly at: number;
  readonly pid: number;
  readonly instance: string;
  readonly job?: number;
  readonly fence?: number;
  readonly attempt?: number;
  readonly [more: string]: unknown;
}

const path = process.env['STINT_LEDGER'] ?? '';
const instance = process.env['STINT_INSTANCE'] ?? '';

/** Appends one line; short enough that lines of several processes do not mix. */
export function tell(what: string, more: object = {}): void {
  const entry: Entry = { what, at: Date.now(), pid: process.pid, instance, ...more };
  appendFileSync(path, `${JSON.stringify(entry)}\n`);
}

/** Which job a handler works on, and under which claim. A task is named by its own id, not by that of its run. */
export const of = ({ idempotencyKey, fence, run }: Pick<Context, 'idempotencyKey' | 'fence' | 'run'>) => ({
  job: Number(idempotencyKey.split('.')[0]),
  run: run.id,
  fence,
  attempt: run.attempt,
});

/** True for one caller among all processes. */
export function isFirst(name: string): boolean {
  try {
    writeFileSync(`${path}.${name}`, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** Waits until the test opens the gate; gives up with the reason of the signal. */
export async function gate(name: string, signal?: AbortSignal): Promise<void> {
  while (!existsSync(`${path}.${name}`)) {
    signal?.throwIfAborted();
    await sleep(10);
  }
}

/** Does nothing until the signal aborts, then throws its reason. */
export async function hang(signal: AbortSignal): Promise<never> {
  while (!signal.aborted) await sleep(10);
  throw signal.reason;
}
