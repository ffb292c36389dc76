// What every import proof does: a dry run, an import that is killed in the middle, the same import again, and again.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../src/model/job.ts';
import { Engine } from '../../src/open.ts';
import { parseJson } from '../../src/model/json.ts';
import { Place } from '../cli/stint.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { waitMs } from '../support/patience.ts';
import { jobCount, queues, readyQueue, scheduleCount, sentJobs, type OpenPeer } from './peer.ts';

interface Answer {
  readonly queues: readonly { readonly queue: string; readonly created: number; readonly existing: number; readonly refused: number }[];
  readonly refusedCount: number;
  readonly leftOut: readonly { readonly queue: string; readonly reason: string; readonly count: number }[];
  readonly schedules: { readonly plan: { readonly definitions: readonly { readonly action: string }[] }; readonly refused: readonly unknown[] };
  readonly undeclaredTypes: readonly string[];
}

export async function importScenario(peer: OpenPeer, { hasZones = true }: { readonly hasZones?: boolean } = {}): Promise<void> {
  const sent = sentJobs(Date.now(), { hasZones });
  await peer.fill(sent.jobs, sent.schedules);
  const before = await peer.digest();
  using place = new Place();
  if (peer.modules !== undefined) symlinkSync(peer.modules, join(place.folder, 'node_modules'));
  const store = await migratedDatabase();
  await using target = await Target.open(store);
  const words = ['import', ...peer.words, '--store', store];
  const answerOf = async (...more: readonly string[]): Promise<Answer> => {
    const { code, out, err } = await place.alone(...words, ...more, '--json');
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as Answer;
  };

  const planned = await answerOf('--dry-run');
  expect([sum(planned, 'created'), sum(planned, 'existing'), planned.refusedCount]).toEqual([jobCount, 0, 0]);
  expect(planned.queues.map(({ queue }) => queue)).toEqual(queues.toSorted());
  expect(actions(planned)).toEqual({ create: scheduleCount });
  expect(planned.schedules.refused).toEqual([]);
  expect([(await target.runs()).length, (await target.engine.definitions()).length]).toEqual([0, 0]);
  expect(await place.alone(...words)).toMatchObject({ code: 2, err: expect.stringContaining('confirm the plan with --yes') as string });
  expect(await target.runs()).toEqual([]);

  await target.blockAfter(jobCount / 3);
  const killed = place.start(...words, '--yes');
  await target.untilBlocked();
  await killed.kill();
  await target.unblock();
  const partly = (await target.runs()).length;
  expect(partly).toBeGreaterThan(0);
  expect(partly).toBeLessThan(jobCount);

  const rest = await answerOf('--dry-run');
  expect([sum(rest, 'created'), sum(rest, 'existing'), actions(rest)]).toEqual([jobCount - partly, partly, { unchanged: scheduleCount }]);
  const finished = await answerOf('--yes');
  expect([sum(finished, 'created'), sum(finished, 'existing')]).toEqual([jobCount - partly, partly]);
  const again = await answerOf('--yes');
  expect([sum(again, 'created'), sum(again, 'existing'), actions(again)]).toEqual([0, jobCount, { unchanged: scheduleCount }]);

  const runs = await target.runs();
  expect(runs.length).toBe(jobCount);
  const byNumber = new Map(runs.map((run) => [numberOf(run), run]));
  expect(byNumber.size).toBe(jobCount);
  for (const { n, queue, payload, due, priority, attempts } of sent.jobs) {
    const run = byNumber.get(n)!;
    expect({ type: run.type, input: parseJson(run.input), priority: run.priority, attempts: run.policy.attemptsMax })
      .toEqual({ type: queue, input: payload, priority, attempts });
    if (due !== undefined) expect(run.due).toBe(due);
    else expect(run.due).toBeLessThanOrEqual(Date.now());
  }
  const definitions = await target.engine.exportDefinitions({});
  const schedulesOf = new Map(definitions.definitions!.map(({ name, schedules }) => [name, schedules?.[0]]));
  expect(schedulesOf.size).toBe(scheduleCount);
  for (const { name, zone } of sent.schedules) {
    expect(schedulesOf.get(peer.definitionName(name))).toMatchObject(zone === 'UTC' ? { cron: expect.any(String) as string } : { zone });
  }
  expect(await peer.digest()).toBe(before);
  const ready = runs.filter(({ type }) => type === readyQueue).toSorted((one, other) =>
    other.priority - one.priority || one.due - other.due || one.id - other.id);
  const compared = 200;
  expect(ready.slice(0, compared).map(numberOf)).toEqual(await peer.next(readyQueue, compared));
}

const numberOf = ({ input }: Job): number => (parseJson(input) as { readonly n: number }).n;

const sum = ({ queues: counts }: Answer, field: 'created' | 'existing'): number =>
  counts.reduce((total, each) => total + each[field], 0);

const actions = ({ schedules: { plan } }: Answer): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(plan.definitions, ({ action }) => action)].map(([action, some]) => [action, some.length]));

/** The database of the import, in which an insert can be made to wait. */
class Target {
  readonly engine: Engine;
  readonly #client: pg.Client;

  private constructor(engine: Engine, client: pg.Client) {
    this.engine = engine;
    this.#client = client;
  }

  static async open(store: string): Promise<Target> {
    const client = new pg.Client({ connectionString: store });
    await client.connect();
    return new Target(new Engine({ store }), client);
  }

  async runs(): Promise<Job[]> {
    const found: Job[] = [];
    let after: number | null = null;
    do {
      const page: Awaited<ReturnType<Engine['find']>> =
        await this.engine.find({ kinds: ['run'] }, { limit: 1_000, order: 'oldest', ...(after === null ? {} : { after }) });
      found.push(...page.jobs);
      after = page.next;
    } while (after !== null);
    return found;
  }

  /** Lets the insert wait that makes the keys of more than `count` jobs taken. */
  async blockAfter(count: number): Promise<void> {
    await this.#client.query('select pg_advisory_lock(7)');
    await this.#client.query(`create function wait_in_test() returns trigger language plpgsql as $$ begin
      if (select count(*) from stint.unique_key) > ${Math.floor(count)} then perform pg_advisory_xact_lock(7); end if;
      return null; end $$`);
    await this.#client.query('create trigger wait_in_test after insert on stint.unique_key execute function wait_in_test()');
  }

  async untilBlocked(): Promise<void> {
    const end = Date.now() + waitMs;
    // Other databases of the server have locks, too.
    const text = `select 1 from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and locktype = 'advisory' and objid = 7 and not granted`;
    while ((await this.#client.query(text)).rowCount === 0) {
      if (Date.now() > end) throw new Error('the import did not come to the insert that waits');
      await sleep(10);
    }
  }

  async unblock(): Promise<void> {
    await this.#client.query('select pg_advisory_unlock(7)');
    await this.#client.query('drop function wait_in_test cascade');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
    await this.engine.close();
  }
}

/** Describes all rows of tables in one text. */
export async function digestOf(client: pg.Client, tables: readonly string[]): Promise<string> {
  const digests: string[] = [];
  for (const table of tables) {
    const { rows } = await client.query<{ readonly digest: string }>(
      `select md5(coalesce(string_agg(t::text, E'\\n' order by t::text), '')) as digest from ${table} t`,
    );
    digests.push(rows[0]!.digest);
  }
  return digests.join(' ');
}
