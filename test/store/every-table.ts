// Rows in every table of a store, and all that can be read of them through the port.
import { apply } from '../../src/apply.ts';
import { create } from '../../src/model/machine.ts';
import type { JobOrigin } from '../../src/model/job.ts';
import { outputStart } from '../../src/model/output.ts';
import type { Store } from '../../src/store/store.ts';

const asker = { by: 'test' };

const origin: Omit<JobOrigin, 'id' | 'created'> = {
  kind: 'run', type: 'plain', def: null, parent: null, key: null, gate: null, unique: null, policy: {}, tags: null,
  input: '{}', tick: null, follows: null, typeVersion: 1,
};

/** A key, staged children, an ended job, a history of several chunks, progress, a log, output, an instance, a leader. */
export async function fillEveryTable(store: Store): Promise<void> {
  const about = { host: 'h', pid: 1, version: '0', types: ['plain'], slots: 1, busy: 0, draining: false };
  await store.beat({ id: 'worker', leaseMs: 600_000, about, holds: [] });
  await store.lead('maintenance', 'worker', 600_000);
  const first = await store.reserveIds(5);
  const now = store.now();
  const fresh = (id: number, more: Partial<JobOrigin> = {}) =>
    create({ ...origin, id, created: now, ...more }, { due: now, priority: 0 }, { by: 'test', now });
  await store.commit({ changes: [
    fresh(first, { unique: { key: 'while open', forMs: null }, gate: '{"name":"g","max":3}', tags: { a: 'b' } }),
    fresh(first + 1, { unique: { key: 'for a day', forMs: 86_400_000 }, policy: { retentionMs: 86_400_000 } }),
    fresh(first + 2),
  ] });
  await apply(store, first + 1, { do: 'stop', code: 'user' }, asker);
  for (let fence = 1; fence <= 20; fence += 1) {
    await apply(store, first + 2, { do: 'claim', holder: 'worker', until: null }, asker);
    if (fence < 20) await apply(store, first + 2, { do: 'release', fence }, asker);
  }
  const line = { at: now, level: 'info', text: 'started' } as const;
  await store.writeNotes([{ id: first + 2, fence: 20, progress: '{"done":1}', log: [line], output: [{ upto: 1, bytes: 3, text: '{}' }] }]);
  const child = { kind: 'task', parent: first + 2 } as const;
  await store.stageChildren(
    first + 2, 20, [fresh(first + 3, child), fresh(first + 4, { ...child, unique: { key: 'staged', forMs: null } })],
  );
}

/** The job that has staged children, which become jobs by this. */
export async function commitStaged(store: Store): Promise<readonly boolean[]> {
  const { jobs: [parent] } = await store.find({ standings: ['running'] });
  return store.commit({ changes: [], whole: true, staged: { parent: parent!.id, fence: parent!.fence } });
}

export async function readEveryTable(store: Store): Promise<unknown> {
  const { jobs } = await store.find({}, { order: 'oldest' });
  const { events } = await store.eventsAfter(null, 1000);
  const each = async ({ id }: { readonly id: number }): Promise<unknown> =>
    ({ history: await store.history(id), progress: await store.progress(id), log: await store.log(id),
      output: await store.output(id, outputStart, 10) });
  return {
    jobs,
    events,
    each: await Promise.all(jobs.map(each)),
    keys: [...await store.jobsByKey(['while open', 'for a day', 'staged'])],
    gates: [...await store.admittedPerGate(['plain'])],
    instances: await store.instances(),
    leader: (await store.lead('maintenance', 'another', 1)).leader,
    notSucceeded: (await store.find({ standings: ['failed', 'cancelled'], kinds: ['run'] })).jobs,
  };
}

/** Makes the rows of a schema what a version before output and the fence of log lines has written. */
export const withoutNewer = (schema: string): string => `UPDATE ${schema}.log SET fence = NULL; DELETE FROM ${schema}.output`;
