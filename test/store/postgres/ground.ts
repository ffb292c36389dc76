// The fixtures of the PostgreSQL tests: a store in a fresh database, plain jobs, and a second connection.
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import type { Command } from '../../../src/model/command.ts';
import type { JobOrigin, Job, RunningJob } from '../../../src/model/job.ts';
import { create, step } from '../../../src/model/machine.ts';
import { Refusal } from '../../../src/refusal.ts';
import { PostgresStore, type PostgresOptions } from '../../../src/store/postgres/store.ts';
import type { ClaimRequest, Store } from '../../../src/store/store.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';
import { waitMs } from '../../support/patience.ts';

export async function freshStore(options: PostgresOptions = {}): Promise<{ url: string; store: PostgresStore }> {
  const url = await migratedDatabase();
  return { url, store: openStore(url, options) };
}

export function openStore(url: string, options: PostgresOptions = {}): PostgresStore {
  const store = new PostgresStore(url, { notify: false, patienceMs: waitMs, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A plain connection beside the store. */
export async function connect(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...config });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const plainBirth: Omit<JobOrigin, 'id' | 'created'> = {
  kind: 'run', type: 'plain', def: null, parent: null, key: null, gate: null, unique: null, policy: {}, tags: null,
  input: '{}', tick: null, follows: null, typeVersion: 1,
};

export type Said = Partial<JobOrigin> & { readonly due?: number; readonly priority?: number };
export type Made = Change & { readonly after: Job };

/** New jobs, not yet stored. */
export async function born(store: Store, ...said: readonly Said[]): Promise<Made[]> {
  const first = await store.reserveIds(said.length);
  const now = store.now();
  return said.map(({ due = now, priority = 0, ...more }, index) => {
    const birth = { ...plainBirth, id: first + index, created: now, ...more };
    return create(birth, { due, priority }, { by: 'test', now }) as Made;
  });
}

export async function made(store: Store, ...said: readonly Said[]): Promise<Job[]> {
  const changes = await born(store, ...said);
  const written = await store.commit({ changes });
  if (written.includes(false)) throw new Error('cannot set the scene: a job was not written');
  return changes.map(({ after }) => after);
}

export const many = (count: number, said: Said = {}): Said[] => Array.from({ length: count }, () => said);

export function decided(job: Job, command: Command, now: number, by = 'test'): Made {
  const change = step(job, command, { by, now });
  if (change instanceof Refusal) throw change;
  return change as Made;
}

export const everything: ClaimRequest = {
  kinds: ['run', 'task', 'bedrock', 'def'], names: { glob: '*' }, limit: 100,
};

/** Claims and starts what is handed out; what may not start any more is ended instead. */
export async function claimed(store: Store, ask: Partial<ClaimRequest> = {}, holder = 'holder'): Promise<RunningJob[]> {
  const changes = await store.claim({ ...everything, ...ask }, (candidates, now) =>
    candidates.map(({ job, parentCancelled }) =>
      decided(job, { do: 'claim', holder, until: now + 60_000, parentCancelled }, now, holder)));
  return changes.map(({ after }) => after).filter((job) => job?.state === 'running');
}

/** Resolves with each call that comes. */
export function calls(store: PostgresStore): () => Promise<void> {
  let wake = (): void => {};
  let heard = 0;
  store.onWake(() => {
    heard += 1;
    wake();
  });
  return async () => {
    while (heard === 0) await new Promise<void>((resolve) => (wake = resolve));
    heard = 0;
  };
}
