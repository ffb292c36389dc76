/** A session at the command line: an engine that asks and acts but does not work, closed when the command is done. */
import type { Command } from 'commander';
import { userInfo } from 'node:os';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store.ts';
import { Refusal } from '../refusal.ts';

export interface CommonFlags {
  readonly store?: string;
  readonly json?: boolean;
  readonly why?: string;
}

/** Gives the command `--store` and `--json`. */
export const asking = (command: Command): Command =>
  command
    .option('--store <url>', 'sqlite:FILE or postgres://… (else STINT_DATABASE_URL, DATABASE_URL, .stint/jobs.db)')
    .option('--json', 'as JSON');

/** The same with `--why`, which is kept in the job's history. */
export const acting = (command: Command): Command => asking(command).option('--why <reason>', 'kept in the history');

export async function withEngine<T>({ store }: CommonFlags, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = new Engine({ store: storeUrl(store), instance: actor() });
  try {
    await engine.ready();
    return await work(engine);
  } finally {
    await engine.jobs.store.close();
  }
}

/** Who acts, as the history tells it. */
export const actor = (): string => `cli ${userName()}`;

export const acted = ({ why }: CommonFlags) => ({ by: actor(), ...(why === undefined ? {} : { why }) });

export function parseId(text: string): number {
  const id = Number(text);
  if (/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id)) return id;
  throw new Refusal('malformed.id', `${text.slice(0, 40)} is not the id of a job: ids are whole numbers from 1`, {});
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
