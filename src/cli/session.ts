/**
 * The session of one command: its common flags, and an engine that executes no jobs. The store is closed when the
 * command has ended.
 */
import type { Command } from 'commander';
import { userInfo } from 'node:os';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import type { Engine } from '../open.ts';
import { storeUrl } from '../open/store-url.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { codecOf } from './encryption-keys.ts';
import { openStore } from './open-store.ts';

export interface CommonFlags {
  readonly store?: string;
  readonly json?: boolean;
  readonly encryptionKeys?: string;
  readonly why?: string;
  readonly by?: string;
}

export const storeFlagText =
  'database: sqlite:FILE or postgres://… (default: STINT_DATABASE_URL, DATABASE_URL, .stint/jobs.db)';

export const encryptionFlagText =
  'JSON file with the keys of stored payloads: current and keys (default: STINT_ENCRYPTION_KEYS, a file or its JSON)';

export const addStoreFlags = (command: Command): Command =>
  command
    .option('--store <url>', storeFlagText)
    .option('--encryption-keys <file>', encryptionFlagText)
    .option('--json', 'print JSON');

export const addActionFlags = (command: Command): Command =>
  addStoreFlags(command).option('--why <reason>', 'reason, recorded in the history');

/** The flags of an action that may be performed for somebody else, as by a CI job. */
export const addNamedActionFlags = (command: Command): Command =>
  addActionFlags(command)
    .option('--by <name>', 'who acts, recorded in the history (default: cli and your user name)');

/** `types` are the job types whose code the command has. */
export async function withEngine<T>(
  { store: url, encryptionKeys }: CommonFlags,
  work: (engine: Engine) => Promise<T>,
  types: readonly AnyJobType[] = [],
): Promise<T> {
  const codec = await codecOf(encryptionKeys);
  const store = await openCurrent(storeUrl(url));
  try {
    const { Engine } = await import('../open.ts');
    return await work(new Engine({ store, types, instance: actor(), ...(codec === null ? {} : { codec }) }));
  } finally {
    await store.close();
  }
}

/**
 * Opens a store; refuses it if its schema is not the one that this version of Stint needs. Only `migrate`, `serve` and
 * `work` create or migrate a store.
 */
export async function openCurrent(url: string): Promise<Store> {
  const store = await openStore(url, { create: false });
  try {
    await requireCurrentSchema(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function requireCurrentSchema(store: Store): Promise<void> {
  const { from, to } = await store.migrate({ dryRun: true });
  if (from === to) return;
  const found = from === 0 ? 'has no tables of Stint' : `has schema ${from}, this version of Stint needs ${to}`;
  throw new Refusal('older.schema', `the database ${found}: run stint migrate`, { found: from, needed: to });
}

/** The name under which the events and audit records of this user are stored. */
export const actor = (): string => `cli ${userName()}`;

export const attribution = ({ why, by = actor() }: CommonFlags) => ({ by, ...(why === undefined ? {} : { why }) });

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
