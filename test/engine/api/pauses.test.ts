// Pauses: a paused type or key starts nothing until the pause ends, and everybody can see why.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { every, jobDef, jobType, runState } from '../../../src/index.ts';
import { Door, hour, kindsOf, newYear, refusal, refused, start } from './kit.ts';

const ada = { by: 'ada', why: 'the bank is down' };

/** A type that counts its attempts. */
function counting(name = 'charge') {
  const attempts = { count: 0 };
  return { attempts, type: jobType(name, { run: () => void (attempts.count += 1) }) };
}

describe('a paused type', () => {
  test('starts no run, and all that waited when it is resumed', async () => {
    const { attempts, type } = counting();
    const t = await start({ types: [type] });
    await t.engine.pauseType('charge', ada);
    const runs = [await t.createJobRun(type), await t.createJobRun(type)];
    await t.advance('1h');
    expect(attempts.count).toBe(0);
    await t.engine.resumeType('charge', { by: 'ada' });
    await t.advance('1s');
    expect(attempts.count).toBe(2);
    for (const run of runs) expect(runState(await run.get())).toBe('DONE');
  });

  test('starts again by itself at the end of the pause', async () => {
    const { attempts, type } = counting();
    const t = await start({ types: [type] });
    const pause = await t.engine.pauseType('charge', { ...ada, until: '2h' });
    expect(pause).toEqual({ type: 'charge', key: null, ...ada, since: newYear, until: newYear + 2 * hour, spread: null });
    await t.createJobRun(type);
    await t.advance('119m');
    expect([attempts.count, (await t.engine.pauses()).length]).toEqual([0, 1]);
    await t.advance('2m');
    expect([attempts.count, await t.engine.pauses()]).toEqual([1, []]);
  });

  test('goes on with attempts that are running, and starts no retry of them', async () => {
    const door = new Door();
    const type = jobType('charge', {
      retry: { attempts: 5, base: '1s', jitter: 0 },
      async run({ run: { attempt } }) {
        await door.pass();
        if (attempt < 2) throw new Error('not yet');
      },
    });
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.advance('1s');
    await t.engine.pauseType('charge', ada);
    door.open();
    await t.advance('1h');
    expect(kindsOf(await t.engine.history(run.id))).toEqual(['created', 'claimed', 'retried']);
    await t.engine.resumeType('charge');
    await t.advance('1s');
    expect(runState(await run.get())).toBe('DONE');
  });

  test('starts no tasks of a run, and a cancelled run ends with them', async () => {
    const tasks: string[] = [];
    const door = new Door();
    const type = jobType('charge', {
      taskDetails: async () => {
        await door.pass();
        return ['a', 'b', 'c'];
      },
      taskResults: ({ task }) => void tasks.push(task),
    });
    const t = await start({ types: [type] });
    const [first, second] = [await t.createJobRun(type), await t.createJobRun(type)];
    await t.advance('1s');
    await t.engine.pauseType('charge', ada);
    door.open();
    await t.advance('1m');
    expect(tasks).toEqual([]);
    await first.cancel();
    expect(runState(await first.get())).toBe('CANCELLED');
    await t.engine.resumeType('charge');
    await t.advance('1m');
    expect([runState(await second.get()), tasks.sort()]).toEqual(['DONE', ['a', 'b', 'c']]);
  });

  test('still gets the runs of its schedules, which wait', async () => {
    const { attempts, type } = counting();
    const def = jobDef('hourly', type, { schedules: every('1h'), overlap: 'allow' });
    const t = await start({ types: [type], defs: [def] });
    await t.engine.pauseType('charge', ada);
    await t.advance('190m');
    const { jobs } = await t.engine.find({ types: ['charge'], standings: ['pending'] });
    expect([attempts.count, jobs.length]).toEqual([0, 3]);
    await t.engine.resumeType('charge');
    await t.advance('1s');
    expect(attempts.count).toBe(3);
  });

  test('may be one that nobody has registered yet', async () => {
    const t = await start();
    await t.engine.pauseType('later', ada);
    const { id } = await t.engine.createNamed({ type: 'later' }, {});
    expect((await t.engine.explain(id)).map(({ code }) => code)).toEqual(['paused.type', 'type.unknown']);
  });

  test('does not delay other types', async () => {
    const [charge, mail] = [counting('charge'), counting('mail')];
    const t = await start({ types: [charge.type, mail.type] });
    await t.engine.pauseType('charge', ada);
    for (const type of [charge.type, mail.type, charge.type, mail.type]) await t.createJobRun(type);
    await t.advance('1s');
    expect([charge.attempts.count, mail.attempts.count]).toEqual([0, 2]);
  });
});

describe('a paused key', () => {
  const started: string[] = [];
  const keyed = jobType('charge', {
    input: z.object({ tenant: z.string() }),
    limit: { key: 'tenant', concurrency: 5 },
    run: ({ input }) => void started.push(input.tenant),
  });

  test('starts no run of this key, and runs of the others', async () => {
    started.length = 0;
    const t = await start({ types: [keyed] });
    await t.engine.pauseType('charge', { ...ada, key: 'acme', until: '1h' });
    const run = await t.createJobRun(keyed, { input: { tenant: 'acme' } });
    await t.createJobRun(keyed, { input: { tenant: 'globex' } });
    await t.advance('30m');
    expect(started).toEqual(['globex']);
    expect(await run.explain()).toMatchObject([{
      code: 'paused.key',
      says: 'its key "acme" of the type charge is paused until 2026-01-01T01:00:00.000Z by ada: the bank is down',
    }]);
    await t.advance('31m');
    expect(started).toEqual(['globex', 'acme']);
  });

  test('stays paused when its type is resumed', async () => {
    started.length = 0;
    const t = await start({ types: [keyed] });
    await t.engine.pauseType('charge', ada);
    await t.engine.pauseType('charge', { ...ada, key: 'acme' });
    for (const tenant of ['acme', 'globex']) await t.createJobRun(keyed, { input: { tenant } });
    await t.engine.resumeType('charge');
    await t.advance('1m');
    expect(started).toEqual(['globex']);
    expect(await t.engine.pauses()).toMatchObject([{ type: 'charge', key: 'acme' }]);
    await t.engine.resumeType('charge', { key: 'acme' });
    await t.advance('1m');
    expect(started).toEqual(['globex', 'acme']);
  });

  test('is refused for a type without keys', async () => {
    const t = await start({ types: [counting().type] });
    const { code, message } = await refusal(t.engine.pauseType('charge', { ...ada, key: 'acme' }));
    expect(code).toBe('malformed.option');
    expect(message).toContain('declare limit: { key }');
  });
});

test('explains why a run waits: who paused its type, why and until when', async () => {
  const { type } = counting();
  const t = await start({ types: [type] });
  await t.engine.pauseType('charge', { ...ada, until: new Date(newYear + hour) });
  const run = await t.createJobRun(type);
  const [reason] = await run.explain();
  expect(reason).toEqual({
    code: 'paused.type',
    says: 'its type charge is paused until 2026-01-01T01:00:00.000Z by ada: the bank is down',
    detail: { type: 'charge', key: null, ...ada, since: newYear, until: newYear + hour, spread: null },
  });
});

test('a second pause changes the reason and the end, and keeps the beginning', async () => {
  const t = await start();
  await t.engine.pauseType('charge', { ...ada, until: '1h' });
  await t.advance('10m');
  await t.engine.pauseType('charge', { by: 'bob', why: 'still down' });
  expect(await t.engine.pauses()).toEqual([
    { type: 'charge', key: null, by: 'bob', why: 'still down', since: newYear, until: null, spread: null },
  ]);
});

test('pauses and resumes are in the audit, with what was before and after', async () => {
  const t = await start();
  await t.engine.pauseType('charge', ada);
  await t.advance('1m');
  await t.engine.resumeType('charge', { by: 'bob', why: 'the bank is back' });
  const { records } = await t.engine.jobs.audited();
  expect(records).toMatchObject([
    { action: 'type.resume', by: 'bob', why: 'the bank is back', before: { type: 'charge', by: 'ada' }, after: null },
    { action: 'type.pause', by: 'ada', why: 'the bank is down', before: null, after: { type: 'charge', until: null } },
  ]);
});

test.each([
  ['without a reason', { by: 'ada' }, 'malformed.option'],
  ['with an end in the past', { ...ada, until: new Date(0) }, 'malformed.time'],
  ['with an end that is no time', { ...ada, until: 'soon' }, 'malformed.duration'],
  ['with an empty key', { ...ada, key: '' }, 'malformed.name'],
  ['with a misspelt option', { ...ada, untill: '1h' }, 'malformed.option'],
])('a pause %s is refused', async (_, options, code) => {
  const t = await start();
  expect(await refused(t.engine.pauseType('charge', options as typeof ada))).toBe(code);
  expect(await t.engine.pauses()).toEqual([]);
});

test('a resume of a type that is not paused, or no longer, is refused', async () => {
  const t = await start();
  expect(await refused(t.engine.resumeType('charge'))).toBe('unknown.pause');
  await t.engine.pauseType('charge', { ...ada, until: '1m' });
  await t.advance('2m');
  expect(await refused(t.engine.resumeType('charge'))).toBe('unknown.pause');
});
