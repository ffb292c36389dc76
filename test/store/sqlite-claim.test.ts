// What a claim costs on SQLite: as many statements as it takes jobs, whatever waits besides.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { applyEach, isChange } from '../../src/apply.ts';
import { newJob } from '../../src/conformance/world.ts';
import { Jobs } from '../../src/jobs.ts';
import { gateText } from '../../src/model/gate.ts';
import type { LimitUse } from '../../src/model/limit.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

let folder: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  store = new SqliteStore(join(folder, 'jobs.db'), { durability: 'normal' });
  await store.migrate();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  rmSync(folder, { recursive: true });
});

const many = 3_000;
const statementsMax = 500;

/** Stores many jobs; `what` gives what is special about the n-th. */
async function fill(from: number, what: (n: number) => Omit<Parameters<typeof newJob>[0], 'id' | 'created'>): Promise<void> {
  const changes = Array.from({ length: many }, (_, n) => newJob({ id: from + n, created: 1, due: 1, ...what(n) }));
  await store.commit({ changes });
}

/** Does it, and returns how many statements that took. */
async function statementsOf(act: () => Promise<unknown>): Promise<number> {
  const methods = (['all', 'get', 'run', 'iterate'] as const).map((name) => vi.spyOn(StatementSync.prototype, name));
  await act();
  const count = methods.reduce((sum, { mock: { calls } }) => sum + calls.length, 0);
  vi.restoreAllMocks();
  return count;
}

test('a claim by a pattern costs what it takes, whatever the number of types, due or not', async () => {
  const later = store.now() + 3_600_000;
  await fill(10_000, (n) => ({ kind: 'bedrock', type: `later/${n}`, due: later }));
  await fill(20_000, (n) => ({ kind: 'bedrock', type: `due/${n}` }));
  const jobs = new Jobs(store);
  for (const glob of ['*', 'due/*']) {
    const request = { kinds: ['bedrock'], names: { glob }, limit: 1, holder: 'w', leaseMs: 60_000 } as const;
    const taken: number[] = [];
    const count = await statementsOf(async () => taken.push(...(await jobs.claim(request)).map(({ id }) => id)));
    expect([taken.length, count < statementsMax], `${glob}: ${count}`).toEqual([1, true]);
  }
  for (const glob of ['*', 'later/*']) {
    const count = await statementsOf(() => store.nextDue({ kinds: ['bedrock'], names: { glob } }, store.now()));
    expect(count, glob).toBeLessThan(statementsMax);
  }
});

test('a claim at gates costs what it takes, whatever the number of gates and of jobs at a full one', async () => {
  await fill(10_000, () => ({ type: 'keyed', gate: 'any/keyed//full//' }));
  await fill(20_000, (n) => ({ type: 'keyed', due: 2, gate: `any/keyed//${n}//` }));
  const limits = { types: new Map(), defs: new Map(), keys: new Map([['keyed', 1]]) };
  const request = { kinds: ['run'], names: { exact: ['keyed'] }, limit: 10, limits, holder: 'w', leaseMs: null } as const;
  const jobs = new Jobs(store);
  for (let n = 0; n < 3; n++) {
    const gates = new Set<string | null>();
    const count = await statementsOf(async () => (await jobs.claim(request)).forEach(({ gate }) => gates.add(gate)));
    expect([gates.size, count < statementsMax], `${count}`).toEqual([10, true]);
  }
});

test('a claim at a closed limit costs what it takes, whatever the number of different costs', async () => {
  const uses = (cost: number): LimitUse[] => [{ name: 'api', key: null, cost }];
  await fill(10_000, (n) => ({
    type: 'costly', gate: gateText({ type: 'costly', def: null, key: null, leaderOnly: false, uses: uses(n + 1) }),
  }));
  await store.closeLimit('api', null, store.now() + 3_600_000);
  await store.commit({ changes: [newJob({ id: 1, created: 1, due: 2, type: 'free' })] });
  const request = { kinds: ['run'], names: { exact: ['costly', 'free'] }, limit: 10, holder: 'w', leaseMs: null } as const;
  const taken: number[] = [];
  const count = await statementsOf(async () => taken.push(...(await new Jobs(store).claim(request)).map(({ id }) => id)));
  expect([taken, count < statementsMax], `${count}`).toEqual([[1], true]);
});

test('jobs at a gate each are created, claimed and ended by as many statements as jobs without gates', async () => {
  const keys = new Map([['keyed', 1]]);
  const jobs = new Jobs(store);
  const limits = { types: new Map(), defs: new Map(), keys };
  const lifeOf = async (type: string, from: number, gateOf: (n: number) => string | null): Promise<number> => {
    let ended = 0;
    const count = await statementsOf(async () => {
      await fill(from, (n) => ({ type, gate: gateOf(n) }));
      const names = { exact: [type] };
      const claimed = await jobs.claim({ kinds: ['run'], names, limit: many, limits, holder: 'w', leaseMs: null });
      const ends = claimed.map((job) => ({ job, command: { do: 'succeed', fence: job.fence } as const }));
      ended = (await applyEach(store, ends, { by: 'w' })).filter(isChange).length;
    });
    expect(ended).toBe(many);
    return count;
  };
  const plain = await lifeOf('plain', 10_000, () => null);
  const keyed = await lifeOf('keyed', 20_000, (n) => `any/keyed//${n}//`);
  expect(keyed).toBeLessThan(plain + 10);
  expect((await store.load([20_007]))[0]).toMatchObject({ state: 'ended', gate: 'any/keyed//7//' });
});
