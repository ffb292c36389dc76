// The checkup: each finding on a world that has it, and none of them on one that is well.
import { describe, expect, test } from 'vitest';
import { instanceCommandDraft } from '../../src/engine/declare/instance-command.ts';
import { runDoctor, type Finding } from '../../src/engine/inspect/doctor.ts';
import { cron, jobDef, jobType } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { declare } from '../../src/jobs/define.ts';
import { pause } from '../../src/jobs/pauses.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import type { Store, StoreHealth } from '../../src/store/store.ts';
import { stores } from '../support/stores.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const of = (findings: readonly Finding[], about: string): readonly Finding[] =>
  findings.filter((each) => each.about === about);

const about = { host: 'h', pid: 1, version: '1', types: ['known'], slots: 4, busy: 1, draining: false };

/** A store that says something else of itself. */
function saying(store: Store, vitals: Partial<StoreHealth>): Store {
  const real = store.health.bind(store);
  store.health = async () => ({ ...(await real()), ...vitals });
  return store;
}

describe.each(stores)('on $name', (kind) => {
  async function world(): Promise<{
    jobs: Jobs;
    store: Store;
    clock: VirtualClock;
    close: () => Promise<void>;
    look: () => Promise<readonly Finding[]>;
  }> {
    const clock = new VirtualClock(start);
    const opened = await kind.open(clock);
    const { store } = opened;
    const jobs = new Jobs(store);
    return { jobs, store, clock, close: () => opened.close(), look: () => runDoctor(jobs, clock) };
  }

  test('a world that is well has nothing but fine findings', async () => {
    const { store, jobs, look, close } = await world();
    await store.beat({ id: 'one', leaseMs: 60_000, about, holds: [] });
    await jobs.create({ type: 'known' }, 'test');
    const findings = await look();
    // Other tests share the server and its connections, and their jobs were rows of the same tables.
    const ofOthers = ['connections', 'transactions', 'bloat'];
    expect(findings.filter(({ level, about: part }) => level !== 'fine' && !ofOthers.includes(part))).toEqual([]);
    expect(findings.map((each) => each.about)).toEqual(
      expect.arrayContaining(['schema', 'clock', 'instances', 'stuck', 'schedules', 'backlog']),
    );
    await close();
  });

  test('a command to a live instance is not stuck, one to an instance that is gone is', async () => {
    const { jobs, store, clock, look, close } = await world();
    await store.beat({ id: 'here', leaseMs: 60_000, about, holds: [] });
    await jobs.createMany(['here', 'gone'].map((id) => instanceCommandDraft(id, 'drain')), 'test');
    await clock.advance(1);
    expect(of(await look(), 'types')).toMatchObject([{ says: expect.stringContaining('stint.instance/gone') as string }]);
    await close();
  });

  test('without an instance, the doctor counts due jobs of unknown types as a problem', async () => {
    const { jobs, clock, look, close } = await world();
    await jobs.createMany([{ type: 'orphan' }, { type: 'orphan' }], 'test');
    await clock.advance(1);
    const findings = await look();
    expect(of(findings, 'instances')).toMatchObject([{ level: 'warning' }]);
    expect(of(findings, 'types')).toMatchObject([
      { level: 'problem', says: '2 jobs of type orphan due, but no live instance has it' },
    ]);
    await close();
  });

  test('a job whose holder is gone is stuck until it is repaired', async () => {
    const { jobs, store, clock, look, close } = await world();
    const { id } = await jobs.create({ type: 'known' }, 'test');
    await jobs.claim({ kinds: ['run'], names: { exact: ['known'] }, limit: 1, holder: 'gone', leaseMs: 1_000 });
    await store.beat({ id: 'one', leaseMs: 600_000, about, holds: [] });
    await clock.advance(5_000);
    expect(of(await look(), 'stuck')).toMatchObject([
      { level: 'problem', says: expect.stringContaining(`job ${id} lost`) as string },
    ]);
    await close();
  });

  test('the leader and the schedules that are late are named', async () => {
    const { store, jobs, clock, look, close } = await world();
    await store.beat({ id: 'one', leaseMs: 600_000, about: { ...about, leads: true }, holds: [] });
    const { spec } = jobDef('sums', jobType('known', { run: () => {} }), { schedules: cron('* * * * *') });
    await declare(jobs, { name: 'sums', spec, enabled: true, build: null }, 'test');
    await clock.advance(240_000);
    const findings = await look();
    expect(of(findings, 'instances')).toMatchObject([{ says: expect.stringMatching(/, one leads$/) as string }]);
    expect(of(findings, 'schedules')).toMatchObject([
      { level: 'problem', says: expect.stringMatching(/^1 overdue by more than a minute: sums by \d+m/) as string },
    ]);
    await close();
  });

  test('a pause of more than a day is named, with who paused the type and why', async () => {
    const { store, clock, look, close } = await world();
    await pause(store, { type: 'charge', key: null }, null, { by: 'ada', why: 'the bank is down' });
    expect(of(await look(), 'pauses')).toMatchObject([{ level: 'fine', says: 'none is older than a day' }]);
    await clock.advance(25 * 3_600_000);
    expect(of(await look(), 'pauses')).toMatchObject([
      { level: 'warning', says: 'type charge has been paused for 1d1h by ada: the bank is down' },
    ]);
    await close();
  });

  test('jobs that are overdue although an instance has their type are a backlog', async () => {
    const { jobs, store, clock, look, close } = await world();
    await jobs.create({ type: 'known' }, 'test');
    await store.beat({ id: 'one', leaseMs: 600_000, about, holds: [] });
    await clock.advance(120_000);
    expect(of(await look(), 'backlog')).toMatchObject([{ level: 'warning' }]);
    await close();
  });
});

describe('what the store says of itself', () => {
  const look = async (vitals: Partial<StoreHealth>): Promise<readonly Finding[]> => {
    const clock = new VirtualClock(start);
    return runDoctor(new Jobs(saying(new MemoryStore(clock), vitals)), clock);
  };

  test.each<[string, Partial<StoreHealth>, string]>([
    ['clock', { time: start + 5_000 }, '5000 ms ahead'],
    ['clock', { time: start - 5_000 }, '5000 ms behind'],
    ['bloat', { bloat: [{ part: 'job', live: 10, dead: 50_000 }] }, 'job: 50000 dead'],
    ['log', { logBytes: 2 ** 30 }, '1024.0 MB'],
    ['transactions', { oldestTransactionMs: 3_600_000 }, 'open for 1h'],
    ['connections', { connections: { open: 95, max: 100 } }, '95 of 100'],
  ])('%s: %o is a warning that says what to do', async (name, vitals, says) => {
    const [finding] = of(await look(vitals), name);
    expect(finding).toMatchObject({ level: 'warning', says: expect.stringContaining(says) as string });
    expect(finding!.todo).not.toBeNull();
  });

  test('a schema that is too old is the only finding', async () => {
    const clock = new VirtualClock(start);
    const store = new MemoryStore(clock);
    store.migrate = () => Promise.resolve({ from: 1, to: 2, statements: [] });
    expect(await runDoctor(new Jobs(store), clock)).toMatchObject([
      { level: 'problem', about: 'schema', todo: 'run stint migrate' },
    ]);
  });
});
