// Claim hints: a single new run is claimed by the hint of its creator if its row is unchanged, and a hint has no
// private data.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Change } from '../../../src/model/change.ts';
import { claimHintText } from '../../../src/store/postgres/write/claim-hint.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import type { ClaimRequest } from '../../../src/store/store.ts';
import { born, calls, claimed, connect, decided, freshStore, made, openStore, type Said } from './ground.ts';
import { proxyTo } from './proxy.ts';

const runs: ClaimRequest = { kinds: ['run'], names: { exact: ['plain'] }, limit: 10 };

interface Listener {
  readonly store: PostgresStore;
  /** Resolves when a notification has arrived. */
  readonly heard: () => Promise<void>;
}

/** A store that listens, and has seen that nothing waits. */
async function listener(url: string, listenUrl = url): Promise<Listener> {
  const store = openStore(url, { notify: true, listenUrl });
  const heard = calls(store);
  await heard();
  expect(await claimed(store, runs)).toEqual([]);
  return { store, heard };
}

/** Its first hint says what it can; those that follow at once say less. */
const newTeller = (url: string): PostgresStore => openStore(url, { notify: true });

/** A store that creates jobs and sends hints, and one that has received the first of them. */
async function afterHearingOf(said: Said): Promise<{ url: string; teller: PostgresStore } & Listener> {
  const { url, store: teller } = await freshStore({ notify: true });
  const there = await listener(url);
  await made(teller, said);
  await there.heard();
  return { url, teller, ...there };
}

/** The changes of a claim, and whether it used the hint, which has no input, or a scan. */
async function claimedHow(store: PostgresStore): Promise<{ how: string; changes: readonly Change[] }> {
  const ways: string[] = [];
  const changes = await store.claim(runs, (candidates, now) => candidates.map(({ job }) => {
    ways.push(job.input === '' ? 'told' : 'seen');
    return decided(job, { do: 'claim', holder: 'holder', until: null, parentCancelled: false }, now, 'holder');
  }));
  return { how: ways.join(', '), changes };
}

test('a single run that another store hints at is claimed by its hint, and comes with its input', async () => {
  const { store, teller } = await afterHearingOf({ input: '{"for":"you"}', policy: { timeoutMs: 5000 } });
  const { how, changes } = await claimedHow(store);
  expect(how).toBe('told');
  const [job] = await teller.load([changes[0]!.after!.id]);
  expect(changes).toMatchObject([{ after: { ...job, state: 'running', input: '{"for":"you"}' }, before: { input: '{"for":"you"}' } }]);
  expect((await teller.history(job!.id)).map(({ kind }) => kind)).toEqual(['created', 'claimed']);
  const feed = async (): Promise<unknown[]> =>
    (await teller.eventsAfter(null, 10)).events.map(({ event }) => event.kind);
  await expect.poll(feed).toEqual(['created', 'claimed']);
});

test('after a claim by hint a scan is due immediately, and finds jobs without a hint', async () => {
  const { url, store } = await afterHearingOf({});
  const [silent] = await made(openStore(url, { notify: false }), {});
  expect((await claimedHow(store)).how).toBe('told');
  expect((await store.nextDue(runs))! - store.now()).toBeLessThan(50);
  expect(await claimed(store, runs)).toMatchObject([{ id: silent!.id }]);
  expect(await store.nextDue(runs)).toBeNull();
});

test('after a scan the next hint is used again', async () => {
  const { url, store, heard } = await afterHearingOf({});
  for (let round = 0; round < 3; round += 1) {
    expect((await claimedHow(store)).how).toBe('told');
    expect(await claimed(store, runs)).toEqual([]);
    await made(newTeller(url), {});
    await heard();
  }
});

/** Creates each of the jobs by a call of its own in one transaction of the caller. */
async function madeWithin(teller: PostgresStore, url: string, end: 'commit' | 'rollback', ...said: Said[]): Promise<number[]> {
  const client = await connect(url);
  const changes = await born(teller, ...said);
  await client.query('begin');
  for (const change of changes) await teller.within(client).commit({ changes: [change] });
  await client.query(end);
  return changes.map(({ after }) => after.id);
}

test.for([['another process', false], ['the process that created it', true]] as const)(
  "a single run of a caller's transaction is claimed by its hint in %s",
  async ([, isOwn]) => {
    const { url, store: other } = await freshStore({ notify: true });
    const { store, heard } = await listener(url);
    const [id] = await madeWithin(isOwn ? store : other, url, 'commit', { input: '1' });
    await heard();
    expect(await claimedHow(store)).toMatchObject({ how: 'told', changes: [{ after: { id, input: '1' } }] });
    expect(await claimed(store, runs)).toEqual([]);
  },
);

test("of several runs of a caller's transaction, a hint hides none", async () => {
  const { url, store: teller } = await freshStore({ notify: true });
  const { store, heard } = await listener(url);
  const ids = await madeWithin(teller, url, 'commit', {}, {}, {});
  await heard();
  const { changes } = await claimedHow(store);
  const later = await claimed(store, runs);
  expect([...changes.map(({ after }) => after!.id), ...later.map(({ id }) => id)]).toEqual(ids);
});

test("no hint is sent of a caller's transaction that is rolled back", async () => {
  const { url, store: teller } = await freshStore({ notify: true });
  const { store, heard } = await listener(url);
  await madeWithin(teller, url, 'rollback', {});
  const [id] = await madeWithin(newTeller(url), url, 'commit', {});
  await heard();
  expect(await claimedHow(store)).toMatchObject({ how: 'told', changes: [{ after: { id } }] });
});

test('of many claimers that get the hint, one gets the job', async () => {
  const { url, store: teller } = await freshStore({ notify: true });
  const all = await Promise.all([listener(url), listener(url), listener(url), listener(url)]);
  const [job] = await made(teller, {});
  await Promise.all(all.map(({ heard }) => heard()));
  const taken = await Promise.all(all.map(async ({ store }) => (await claimedHow(store)).changes));
  expect(taken.flat()).toMatchObject([{ after: { id: job!.id } }]);
  expect(await teller.history(job!.id)).toHaveLength(2);
});

test.for<[string, (teller: PostgresStore, url: string) => Promise<unknown>, number[]]>([
  ['was claimed by another', (teller) => claimed(teller, runs), []],
  ['was paused', async (teller) => {
    const { jobs: [job] } = await teller.find({});
    await teller.commit({ changes: [decided(job!, { do: 'pause' }, teller.now())] });
  }, []],
  ['has got another priority behind our back', async (_, url) => {
    await (await connect(url)).query('update stint.job set priority = 7');
  }, [7]],
  ['is met by one that is more urgent', (teller) => made(teller, { priority: 9 }), [9, 0]],
])('a job that %s is claimed by a scan', async ([, happens, priorities]) => {
  const { url, store, teller, heard } = await afterHearingOf({});
  await happens(teller, url);
  if (priorities.length === 2) await heard();
  expect((await claimedHow(store)).changes.map(({ after }) => after!.priority)).toEqual(priorities);
});

test('a claimer that has written jobs, or requests other names, scans', async () => {
  const { store } = await afterHearingOf({});
  expect(await claimed(store, { ...runs, names: { exact: ['other'] } })).toEqual([]);
  await made(store, { type: 'other' });
  expect((await claimedHow(store)).how).toBe('seen');
});

test.for<[string, Said]>([
  ['a parent', { parent: 1 }],
  ['a gate', { gate: 'any/plain////' }],
  ['another kind', { kind: 'task' }],
])('a job with %s is sent no hint', async ([, said]) => {
  const { url, store } = await freshStore({ notify: true });
  const client = await connect(url);
  await client.query('listen stint_wake');
  const heard = once(client, 'notification') as Promise<[{ payload: string }]>;
  await made(store, said);
  expect((await heard)[0].payload).toMatch(/^[0-9a-f]{16}$/);
});

test('a hint contains no private data', async () => {
  const { url } = await freshStore();
  const client = await connect(url);
  await client.query('listen stint_wake');
  const secrets: Said[] = [
    { input: '"secret"' }, { tags: { of: 'secret' } }, { unique: { key: 'secret', forMs: null } },
    { kind: 'bedrock', input: '"secret"' },
  ];
  for (const said of secrets) {
    const heard = once(client, 'notification') as Promise<[{ payload: string }]>;
    await made(newTeller(url), said);
    expect((await heard)[0].payload).not.toContain('secret');
  }
});

test.for<[string, string, (told: string) => string]>([
  ['nothing', 'seen', () => ''],
  ['no JSON', 'seen', () => 'x'],
  ['too little', 'seen', (told) => JSON.stringify((JSON.parse(told) as unknown[]).slice(1))],
  ['a number that is none', 'seen', (told) => told.replace('[', '["1; drop",').replace(/,\d+/, '')],
  ['another policy', 'told, seen', (told) => told.replace('5000', '1')],
])('a forged hint with %s changes nothing', async ([, how, forged]) => {
  const { url, store: maker } = await freshStore();
  const { store, heard } = await listener(url);
  const [change] = await born(maker, { policy: { timeoutMs: 5000 } });
  await maker.commit({ changes: [change!] });
  const { after: job } = change!;
  const hint = `${'0'.repeat(16)}${forged(claimHintText(change!))}`;
  await (await connect(url)).query('select pg_notify($1, $2)', ['stint_wake', hint]);
  await heard();
  const claim = await claimedHow(store);
  expect(claim.how).toBe(how);
  expect(claim.changes).toMatchObject([{ after: { id: job.id, policy: { timeoutMs: 5000 } } }]);
  expect(await maker.load([job.id])).toMatchObject([{ policy: { timeoutMs: 5000 }, state: 'running' }]);
});

test('a claim whose acknowledgement was lost is ours, with its input', async () => {
  const { url, store: teller } = await freshStore({ notify: true });
  const proxy = await proxyTo(url);
  const { store, heard } = await listener(proxy.url, url);
  await made(teller, { input: '"mine"' });
  await heard();
  proxy.loseAnswerTo('is not distinct from');
  const { how, changes } = await claimedHow(store);
  expect(how).toBe('told');
  expect(proxy.lost()).toBe(1);
  expect(changes).toMatchObject([{ after: { state: 'running', input: '"mine"' } }]);
  expect(await teller.history(changes[0]!.after!.id)).toHaveLength(2);
});
