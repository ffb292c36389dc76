/** A session of one command: its common flags, and an engine that executes no jobs and is closed at the end. */
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

export const storeFlagText =
  'database: sqlite:FILE or postgres://… (default: STINT_DATABASE_URL, DATABASE_URL, .stint/jobs.db)';

/** Adds `--store` and `--json`. */
export const addStoreFlags = (command: Command): Command =>
  command
    .option('--store <url>', storeFlagText)
    .option('--json', 'print JSON');

/** Adds `--store`, `--json` and `--why`. */
export const addActionFlags = (command: Command): Command =>
  addStoreFlags(command).option('--why <reason>', 'reason, recorded in the history');

export async function withEngine<T>({ store }: CommonFlags, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = new Engine({ store: storeUrl(store), instance: actor() });
  try {
    await engine.ready();
    return await work(engine);
  } finally {
    await engine.jobs.store.close();
  }
}

/** The actor that histories record. */
export const actor = (): string => `cli ${userName()}`;

export const attribution = ({ why }: CommonFlags) => ({ by: actor(), ...(why === undefined ? {} : { why }) });

export function parseId(text: string): number {
  const id = Number(text);
  if (/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id)) return id;
  throw new Refusal('malformed.id', `invalid job id "${text.slice(0, 40)}"; ids are positive integers`, {});
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
