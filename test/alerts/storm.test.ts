// A storm of failures while the process that watches and sends is killed: a handful of messages, each change in one.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { Engine, jobType, typed } from '../../src/index.ts';
import { Place, type Started } from '../cli/stint.ts';
import { until } from '../http/world.ts';
import { detail } from '../support/detail.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { noAnswer, Receiver, type Received } from './receiver.ts';

const failures = 10_000;
const types = ['a', 'b', 'c', 'd', 'e'];
/** Each type begins to fail once, and recovers once. */
const changesTotal = 2 * types.length;
const index = new URL('../../src/index.ts', import.meta.url).href;

const program = (url: string): string => `
  import { jobAlert, jobType } from '${index}';
  const run = ({ input }) => { if (!input.works) throw new Error('the storm'); };
  export const types = ${JSON.stringify(types)}.map((name) => jobType(name, { retry: { attempts: 1 }, run }));
  export const alert = jobAlert('storm', { when: 'failed', every: '1s', to: { webhook: '${url}' } });
`;

const idOf = ({ body }: Received): string => body.id as string;

describe.each([
  ['SQLite', (place: Place) => `sqlite:${join(place.folder, 'jobs.db')}`],
  ['PostgreSQL', () => migratedDatabase()],
])('on %s', (_, urlOf) => {
  detail(`${failures} failures with three kills of the sender are a handful of messages, none lost, none twice`, async () => {
    using place = new Place();
    const store = await urlOf(place);
    const to = await new Receiver().listen();
    await writeFile(join(place.folder, 'jobs.ts'), program(to.url));
    const work = (): Started =>
      place.start('work', '--store', store, '--jobs', 'jobs.ts', '--lease', '1s', '--http-allow', '127.0.0.0/8');
    const engine = new Engine({ store });
    let worker = work();
    onTestFinished(async () => {
      await worker.kill();
      await engine.close();
      to.close();
    });
    const killed = async (): Promise<void> => {
      await worker.kill();
      worker = work();
    };
    const create = (name: string, works: boolean, count: number): Promise<unknown> => engine.createJobRuns(
      jobType(name, { input: typed<{ works: boolean }>(), run: () => null }), Array.from({ length: count }, () => ({ input: { works } })));
    const failed = async (): Promise<number> =>
      (await engine.count({ types, standings: ['failed'] })).reduce((sum, { count }) => sum + count, 0);
    /** Takes it for hung only if no more of them fail. */
    const untilFailed = async (count: number): Promise<void> => {
      for (let seen = await failed(); seen < count; ) {
        const last = seen;
        await until(async () => (seen = await failed()) > last);
      }
    };
    const failing = async (): Promise<number> => (await engine.alert('storm')).failing;

    await until(async () => (await engine.alerts()).length === 1);
    // The first message arrives, and its sender dies before it knows.
    to.statuses.push(noAnswer);
    await create(types[0]!, false, failures / types.length);
    await to.until((received) => received.length === 1);
    await killed();
    for (const name of types.slice(1)) await create(name, false, failures / types.length);
    await untilFailed(failures / 2 + 1);
    await killed();
    await untilFailed(failures);
    await until(async () => (await failing()) === types.length);
    expect(await failed()).toBe(failures);
    for (const name of types) await create(name, true, 1);
    await until(async () => (await failing()) < types.length);
    await killed();
    await until(async () => (await failing()) === 0);
    await to.until((received) => received.some(({ body }) => body.to === changesTotal));
    await until(async () => (await engine.sentAlerts('storm')).items.every(({ standing }) => standing === 'succeeded'));

    const distinct = [...new Map(to.received.map((each) => [idOf(each), each.body])).values()].sort((x, y) => x.number - y.number);
    expect(distinct.length).toBeLessThanOrEqual(changesTotal);
    expect(distinct.map(({ from }) => from)).toEqual([1, ...distinct.map((each) => each.to + 1)].slice(0, -1));
    expect(distinct.at(-1).to).toBe(changesTotal);
    const changes: { subject: string; count: number }[] = distinct.flatMap((each) => each.changes);
    for (const name of types) {
      const ofType = changes.filter(({ subject }) => subject === `type ${name}`);
      expect([name, ofType.reduce((sum, { count }) => sum + count, 0), ofType.at(-1)]).toMatchObject([name, 2, { isFailing: false }]);
    }
    // What was received twice is the same message: it has the id by which a receiver knows it.
    expect(to.received.length).toBeGreaterThan(distinct.length);
    for (const { body } of to.received) expect(distinct).toContainEqual(body);
  });
});
