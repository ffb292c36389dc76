// The past ticks of a definition and their backfill with the command, on both databases.
import { describe, expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { Place } from './stint.ts';

const kinds = [
  { name: 'SQLite', open: async (folder: string) => `sqlite:${folder}/jobs.db` },
  { name: 'PostgreSQL', open: () => migratedDatabase() },
];

const range = ['--from', '2026-03-01T00:00:00Z', '--to', '2026-03-02T00:00:00Z'];

describe.each(kinds)('on $name', ({ open }) => {
  test('missing ticks are listed, counted and backfilled once', async () => {
    using place = new Place();
    const url = await open(place.folder);
    const stint = async (...words: string[]) => place.stint('defs', ...words, '--store', url);
    await using engine = new Engine({ store: url, types: [jobType('mail', { run: () => {} })] });
    await engine.resume();
    await engine.define('hourly', 'mail', { schedules: [{ kind: 'cron', text: '0 */8 * * *', zone: 'UTC' }] });
    const listed = await stint('ticks', 'hourly', ...range, '--limit', '2');
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect(listed.out).toMatch(/TICK +IN ITS ZONE +OUTCOME/);
    expect(listed.out.match(/missing/g)).toHaveLength(2);
    expect(listed.out).toContain('Older ticks: add --to 2026-03-01T08:00:00.000Z');
    const counted = await stint('backfill', 'hourly', ...range, '--dry-run');
    expect(counted.out).toBe('The backfill would create 3 runs: the range has 3 ticks.\n');
    const started = await stint('backfill', 'hourly', ...range, '--concurrency', '3', '--by', 'ann', '--json');
    const { operation } = JSON.parse(started.out) as { operation: number };
    expect(await engine.run(operation).result()).toMatchObject({ created: 3, ended: { succeeded: 3 } });
    const again = await stint('backfill', 'hourly', ...range, '--dry-run', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ ticks: 3, missing: 0, existing: 3, operation: null });
    const { items } = JSON.parse((await stint('ticks', 'hourly', ...range, '--json')).out) as { items: object[] };
    expect(items).toMatchObject([1, 2, 3].map(() => ({ outcome: 'run', standing: 'succeeded', backfill: operation })));
    const calendar = await place.stint('schedule', 'calendar', '--hours', '24', '--store', url, '--json');
    expect(JSON.parse(calendar.out)).toMatchObject({ definitions: 1, busiest: [{ name: 'hourly', ticks: 3 }] });
    const future = await stint('backfill', 'hourly', '--from', '2026-03-01T00:00:00Z', '--to', '2999-01-01T00:00:00Z');
    expect([future.code, future.err]).toEqual([2, expect.stringContaining('the range ends in the future')]);
  });
});
