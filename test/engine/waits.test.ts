// Handlers that wait for answers: the slot is free meanwhile, and of answer, timeout and cancel one counts.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AnswerTimedOut, jobType, runState, type RunHandle, type WaitOptions } from '../../src/index.ts';
import { silent } from '../../src/logger.ts';
import { Door, kindsOf, refusal, refused, start } from './api/kit.ts';

const decision = z.object({ ok: z.boolean(), note: z.string().optional() });

async function resultOf(run: RunHandle<unknown>): Promise<unknown> {
  expect((await run.get()).state).toBe('ended');
  return run.result();
}

/** A type whose handler asks one question and returns the answer. */
const asking = (options: WaitOptions = {}) =>
  jobType('asking', { retry: { attempts: 1 }, run: ({ waitFor }) => waitFor('refund', options) });

test('a wait gives the slot back, and returns the answer when somebody answers', async () => {
  const calls: string[] = [];
  const type = jobType('refund', {
    run: async ({ step, waitFor }) => {
      calls.push('called');
      const amount = await step('plan', () => 7);
      const { ok } = await waitFor('refund', { schema: decision, ask: `Refund ${amount} €?`, role: 'operator', timeout: '7d' });
      return ok ? step('pay', () => `paid ${amount}`) : 'refused';
    },
  });
  const other = jobType('other', { run: () => 'served' });
  const t = await start({ types: [type, other], slots: 1 });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(runState(await run.get())).toBe('PENDING');
  const served = await t.createJobRun(other);
  await t.drain();
  expect(await resultOf(served)).toBe('served');
  const [reason] = await run.explain();
  expect(reason).toMatchObject({ code: 'waits.answer', detail: { questions: [{ name: 'refund', role: 'operator' }] } });
  expect(reason!.says).toContain('"refund" (Refund 7 €?), from the role operator, until 2026-01-08');
  const { questions, next } = await t.engine.openQuestions();
  expect(next).toBeNull();
  expect(questions).toMatchObject([{ run: run.id, type: 'refund', name: 'refund', ask: 'Refund 7 €?', schema: { type: 'object' } }]);
  await t.answer(run, 'refund', { ok: true }, { by: 'ada', role: 'operator' });
  expect(await resultOf(run)).toBe('paid 7');
  expect(calls).toHaveLength(2);
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'slept', 'answered', 'claimed', 'succeeded']);
  expect((await run.events())[3]).toMatchObject({ by: 'ada', name: 'refund' });
  expect((await t.engine.openQuestions()).questions).toEqual([]);
  expect(await run.steps()).toMatchObject([{ name: 'plan' }, { name: 'refund', kind: 'wait' }, { name: 'pay' }]);
});

test('an answer that does not fit, or comes from the wrong person, is refused and audited, and the wait goes on', async () => {
  const type = asking({ schema: decision, role: 'operator', notBy: 'bob' });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const answer = (value: unknown, by: string, role: 'producer' | 'operator') => run.answer('refund', value, { by, role });
  expect(await refusal(answer({ ok: 'yes' }, 'ada', 'operator'))).toMatchObject({ code: 'malformed.answer', detail: { issues: [{ path: 'ok' }] } });
  expect(await refusal(answer({ ok: true }, 'eve', 'producer'))).toMatchObject({ code: 'forbidden.answer' });
  expect(await refusal(answer({ ok: true }, 'bob', 'operator'))).toMatchObject({ code: 'forbidden.answer' });
  const { records } = await t.engine.jobs.audited({ action: 'answer refused', job: run.id });
  expect(records.map(({ by, after }) => [by, (after as { code: string }).code])).toEqual([
    ['bob', 'forbidden.answer'], ['eve', 'forbidden.answer'], ['ada', 'malformed.answer'],
  ]);
  expect(runState(await run.get())).toBe('PENDING');
  await t.answer(run, 'refund', { ok: false }, { by: 'ada', role: 'operator' });
  expect(await resultOf(run)).toEqual({ ok: false });
  expect(await refused(answer({ ok: true }, 'ada', 'operator'))).toBe('wrong.state');
});

test('a person who is named "link" and must not answer does not keep links from answering', async () => {
  const tokens: string[] = [];
  const type = asking({ notBy: 'link', notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(await refused(run.answer('refund', 1, { by: 'link' }))).toBe('forbidden.answer');
  await t.engine.answerByToken(tokens[0]!, 2);
  await t.drain();
  expect(await resultOf(run)).toBe(2);
});

test('the same answer of the same person is accepted again, also when the run has ended; another is refused', async () => {
  const type = asking();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const answer = { ok: true, note: 'fine' };
  const sent = await Promise.allSettled([1, 2, 3].map(() => run.answer('refund', answer, { by: 'ada', role: 'operator' })));
  expect(sent.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  await t.drain();
  expect(await resultOf(run)).toEqual(answer);
  expect((await run.answer('refund', answer, { by: 'ada', role: 'operator' })).state).toBe('ended');
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'slept', 'answered', 'claimed', 'succeeded']);
  expect((await t.engine.jobs.audited({ action: 'answer' })).records).toHaveLength(1);
  expect(await refused(run.answer('refund', answer, { by: 'eve', role: 'operator' }))).toBe('wrong.state');
  expect(await refused(run.answer('refund', { ok: true }, { by: 'ada', role: 'operator' }))).toBe('wrong.state');
});

test('refused answers fill the audit neither by many tries nor by links of many runs', async () => {
  const tokens: string[] = [];
  const type = asking({ schema: decision, notBy: 'bob', notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const refusals = async (): Promise<unknown[]> => (await t.engine.jobs.audited({ action: 'answer refused' }, { limit: 1000 })).records
    .map(({ job, by, before, after }) => [job, by, before, (after as { code: string }).code]);
  for (let tries = 0; tries < 5; tries += 1) {
    await refused(run.answer('refund', { ok: tries }, { by: 'ada' }));
    await refused(run.answer('refund', { ok: true }, { by: 'bob' }));
    await refused(t.engine.answerByToken(tokens[0]!, { ok: tries }));
  }
  const wait = { wait: 'refund' };
  const first = [
    [run.id, 'link', wait, 'malformed.answer'], [run.id, 'bob', wait, 'forbidden.answer'], [run.id, 'ada', wait, 'malformed.answer'],
  ];
  expect(await refusals()).toEqual(first);
  await t.engine.answerByToken(tokens[0]!, { ok: true });
  for (let tries = 0; tries < 5; tries += 1) await refused(t.engine.answerByToken(tokens[0]!, { ok: false }));
  expect(await refusals()).toEqual([[run.id, 'link', null, 'unknown.wait'], ...first]);
  await t.advance('2h');
  await refused(t.engine.answerByToken(tokens[0]!, { ok: false }));
  expect(await refusals()).toHaveLength(5);
  const runs = await t.engine.createJobRuns(type, Array.from({ length: 100 }, () => ({ delay: '1d' as const })));
  for (const { id } of runs) await refused(t.engine.answerByToken(`${id}.${'0'.repeat(32)}`, 1));
  expect(await refused(t.engine.answerByToken(`999999.${'0'.repeat(32)}`, 1))).toBe('unknown.wait');
  expect(await refusals()).toHaveLength(64);
});

test('to answer a question, one step is read, however many the run has', async () => {
  const type = asking();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const { store } = t.engine.jobs;
  const steps = store.steps.bind(store);
  store.steps = () => Promise.reject(new Error('all steps are read'));
  await run.answer('refund', 'yes');
  store.steps = steps;
  await t.drain();
  expect(await resultOf(run)).toBe('yes');
});

test('an answer before the handler asks is stored, and the handler gets it at once', async () => {
  const type = asking({ schema: decision });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1h' });
  await t.answer(run, 'refund', { ok: true });
  expect((await refusal(run.answer('refund', { ok: false }))).code).toBe('taken.answer');
  await t.advance('2h');
  expect(await resultOf(run)).toEqual({ ok: true });
  expect(kindsOf(await run.events())).toEqual(['created', 'answered', 'claimed', 'succeeded']);
});

test('an answer while the handler is busy is not lost', async () => {
  const door = new Door();
  const type = jobType('busy', {
    run: async ({ waitFor, step }) => {
      const [answer] = await Promise.all([waitFor('refund'), step('slow', () => door.pass())]);
      return answer;
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(runState(await run.get())).toBe('RUNNING');
  await run.answer('refund', 'yes');
  door.open();
  await t.advance('1s');
  expect(await resultOf(run)).toBe('yes');
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'answered', 'released', 'claimed', 'succeeded']);
});

test('an answer that was accepted counts after a deploy that changes schema, role and notBy', async () => {
  const type = asking({ schema: decision, role: 'operator' });
  const t = await start({ types: [type] });
  const early = await t.createJobRun(type, { delay: '1h' });
  await early.answer('refund', { ok: true }, { by: 'ada' });
  const asked = await t.createJobRun(type);
  await t.drain();
  await t.engine.pauseType('asking', { why: 'a deploy' });
  await asked.answer('refund', { ok: true }, { by: 'ada', role: 'operator' });
  const changed = asking({ schema: z.object({ amount: z.number() }), role: 'admin', notBy: 'ada' });
  await t.restart({ types: [changed] });
  await t.engine.resumeType('asking');
  await t.advance('2h');
  expect(await resultOf(asked)).toEqual({ ok: true });
  expect((await early.events()).at(-2)).toMatchObject({ kind: 'unanswered', cause: 'role' });
});

test('pages of steps contain every answer that came early', async () => {
  const type = asking({});
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1h' });
  for (const name of ['c', 'a', 'b']) await run.answer(name, name);
  const first = await t.engine.steps(run.id, { limit: 2 });
  expect(first.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(await t.engine.steps(run.id, { limit: 2, after: first.at(-1)!.n })).toEqual([]);
});

test('an early answer that a handler has accepted counts in later attempts of changed code', async () => {
  const failing = (schema: WaitOptions['schema'], isLast: boolean) => jobType('asking', {
    retry: { attempts: 2, base: '1h' },
    run: async ({ waitFor }) => {
      const answer = await waitFor('refund', { ...(schema && { schema }) });
      if (isLast) return answer;
      throw new Error('not yet');
    },
  });
  const type = failing(decision, false);
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1s' });
  await t.answer(run, 'refund', { ok: true });
  await t.advance('1m');
  await t.restart({ types: [failing(z.object({ amount: z.number() }), true)] });
  await t.advance('2h');
  expect(await resultOf(run)).toEqual({ ok: true });
});

test('a rule of the schema that only the handler knows refuses an answer that a door has accepted', async () => {
  const type = asking({ schema: z.number().refine((n) => n % 2 === 0) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.answer(run, 'refund', 3);
  expect((await run.events()).at(-2)).toMatchObject({ kind: 'unanswered', cause: 'schema' });
  await t.answer(run, 'refund', 4);
  expect(await resultOf(run)).toBe(4);
});

test('an early answer that does not fit is refused by the handler, which then waits', async () => {
  const type = asking({ schema: decision, role: 'operator' });
  const t = await start({ types: [type] });
  for (const [value, role, cause] of [[{ ok: 1 }, 'admin', 'schema'], [{ ok: true }, 'producer', 'role']] as const) {
    const run = await t.createJobRun(type, { delay: '1s' });
    await t.answer(run, 'refund', value, { by: 'eve', role });
    await t.advance('1m');
    expect((await run.events()).at(-2)).toMatchObject({ kind: 'unanswered', name: 'refund', cause });
    expect(await run.explain()).toMatchObject([{ code: 'waits.answer' }]);
    await t.answer(run, 'refund', { ok: true });
    expect(await resultOf(run)).toEqual({ ok: true });
  }
});

test('a retry from a wait that was answered early forgets no step before it', async () => {
  const calls: string[] = [];
  const type = jobType('charging', {
    retry: { attempts: 1 },
    run: async ({ step, waitFor }) => {
      await step('charge', () => void calls.push('charged'));
      const answer = await waitFor('ship');
      await step('send', () => void calls.push('sent'));
      if (answer !== 'again') throw new Error('the parcel is lost');
      return calls.length;
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1h' });
  await t.answer(run, 'ship', 'once');
  expect(await refused(run.retry({ from: 'ship' }))).toBe('wrong.state');
  await t.advance('2h');
  expect((await run.steps()).map(({ n, name }) => [n, name])).toEqual([[1, 'charge'], [2, 'ship'], [3, 'send']]);
  await run.retry({ from: 'ship' });
  await t.drain();
  expect(await run.explain()).toMatchObject([{ code: 'waits.answer' }]);
  await t.answer(run, 'ship', 'again');
  expect(await resultOf(run)).toBe(3);
  expect(calls).toEqual(['charged', 'sent', 'sent']);
});

test('a retry from a wait that the handler has not reached is refused', async () => {
  const type = jobType('early', { retry: { attempts: 1 }, run: ({ step }) => step('charge', () => Promise.reject(new Error('no'))) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1h' });
  await t.answer(run, 'ship', 1);
  await t.advance('2h');
  expect(await refused(run.retry({ from: 'ship' }))).toBe('unknown.step');
});

test('an answer under the name of a step or a sleep does not harm the run', async () => {
  const calls: string[] = [];
  const door = new Door();
  const type = jobType('named', {
    retry: { attempts: 1 },
    run: async ({ step, sleep }) => {
      await step('pay', () => calls.push('pay'));
      await sleep('dry', '1h');
      await step('busy', () => door.pass());
      return step('end', () => calls.push('end'));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type, { delay: '1h' });
  for (const name of ['pay', 'dry', 'end']) await t.answer(run, name, 'wrong', { by: 'eve' });
  await t.advance('1h');
  await t.advance('1h');
  expect(door.knocks).toBe(1);
  await run.answer('busy', 'wrong', { by: 'eve' });
  door.open();
  await t.advance('1s');
  expect(await resultOf(run)).toBe(2);
  expect((await run.steps()).map(({ name, kind }) => [name, kind])).toEqual(
    [['pay', 'step'], ['dry', 'sleep'], ['busy', 'step'], ['end', 'step']],
  );
  expect(await refused(run.retry({ from: 'nothing' }))).toBe('unknown.step');
  await run.retry({ from: 'busy' });
  await run.answer('end', 'wrong', { by: 'eve' });
  await t.advance('1s');
  expect(await resultOf(run)).toBe(3);
});

test('a wait without an answer times out, and an answer afterwards is told so', async () => {
  const type = jobType('impatient', {
    run: async ({ waitFor, sleep }) => {
      const answer = await waitFor('refund', { timeout: '1d' }).catch((error: unknown) => {
        if (!(error instanceof AnswerTimedOut)) throw error;
        return error.message;
      });
      await sleep('a while', '1d');
      return answer;
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('25h');
  expect(await refusal(run.answer('refund', 1))).toMatchObject({ code: 'taken.answer', message: expect.stringContaining('timed out') as string });
  await t.advance('2d');
  expect(await resultOf(run)).toBe('nobody answered "refund" in time');
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'slept', 'claimed', 'unanswered', 'slept', 'claimed', 'succeeded']);
  const strict = asking({ timeout: '1d' });
  await t.restart({ types: [type, strict] });
  const failing = await t.createJobRun(strict);
  await t.advance('2d');
  expect(await failing.get()).toMatchObject({ fate: 'failed', error: { message: 'nobody answered "refund" in time' } });
});

test('a cancelled run takes no answer, and an answered wait is asked again only by a retry from it', async () => {
  const type = asking();
  const t = await start({ types: [type] });
  const [first, second] = [await t.createJobRun(type), await t.createJobRun(type)];
  await t.drain();
  await first.cancel();
  expect(await refused(first.answer('refund', 1))).toBe('wrong.state');
  expect((await t.engine.openQuestions()).questions.map(({ run }) => run)).toEqual([second.id]);
  await t.answer(second, 'refund', 1);
  await second.retry({ from: 'refund' });
  await t.drain();
  expect(await second.explain()).toMatchObject([{ code: 'waits.answer' }]);
  await t.answer(second, 'refund', 2);
  expect(await resultOf(second)).toBe(2);
});

test('a wait without a timeout survives restarts and years, also while its run is paused', async () => {
  const type = asking();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('400d');
  await t.restart();
  await t.engine.pauseJobRun(run.id);
  await t.answer(run, 'refund', 'late');
  await t.engine.resumeJobRun(run.id);
  await t.advance('1m');
  expect(await resultOf(run)).toBe('late');
});

test('an answer wakes a run that was edited a thousand times while it waited', async () => {
  const type = asking();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  for (let priority = 1; priority <= 1100; priority += 1) await t.engine.editJobRun(run.id, { priority });
  expect(await run.explain()).toMatchObject([{ code: 'waits.answer' }]);
  await t.answer(run, 'refund', 'yes');
  expect(await resultOf(run)).toBe('yes');
});

test('two questions at once wait for both answers', async () => {
  const type = jobType('two', { run: ({ waitFor }) => Promise.all([waitFor('a'), waitFor('b', { timeout: '9d' })]) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.answer(run, 'b', 2);
  expect(await run.explain()).toMatchObject([{ code: 'waits.answer', detail: { questions: [{ name: 'a' }] } }]);
  await t.answer(run, 'a', 1);
  expect(await resultOf(run)).toEqual([1, 2]);
});

test('a link answers its question once, and only a hash of its token is stored', async () => {
  const tokens: string[] = [];
  const type = asking({ role: 'admin', schema: decision, notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.restart();
  await t.drain();
  expect(tokens).toHaveLength(1);
  const [token] = tokens;
  expect(JSON.stringify(await t.engine.jobs.store.steps([run.id]))).not.toContain(token!.split('.')[1]);
  expect(await t.engine.questionOf(token!)).toMatchObject({ run: run.id, name: 'refund' });
  expect(await refused(t.engine.answerByToken(`${token!.slice(0, -1)}${token!.endsWith('0') ? '1' : '0'}`, 1))).toBe('unknown.wait');
  expect(await refused(t.engine.answerByToken(token!, { ok: 'yes' }))).toBe('malformed.answer');
  await t.engine.answerByToken(token!, { ok: true });
  await t.drain();
  expect(await resultOf(run)).toEqual({ ok: true });
  expect(await refused(t.engine.answerByToken(token!, { ok: true }))).toBe('unknown.wait');
});

test('the token of a link is in no error that is stored or logged', async () => {
  const texts: string[] = [];
  let token = '';
  const error = (): Error => Object.assign(
    new Error(`POST https://mail.example.org/?text=/answer#${token} failed`, { cause: new Error(`body: ${token}`) }),
    { code: `E ${token}`, data: { sent: [{ link: token }] } },
  );
  const thrown = [error, () => new AggregateError([error()], 'all failed'), () => `lost ${token}`, () => ({ link: { token } }),
    () => Object.freeze(error()), () => new DOMException(`cannot send ${token}`)];
  const type = (at: number) => asking({
    notify: (link) => {
      ({ token } = link);
      throw thrown[at]!() as Error;
    },
  });
  const log = (text: string, about: unknown): void => void texts.push(text, inspect(about, { depth: 9 }));
  const t = await start({ types: [], logger: { ...silent, warn: log, error: log } });
  for (const at of thrown.keys()) {
    await t.restart({ types: [type(at)] });
    const run = await t.createJobRun(type(at));
    await t.drain();
    const { error: stored } = await run.get();
    expect(stored!.message, `error ${at}`).toBeTruthy();
    expect(token).toMatch(/^\d+\.\w{32}$/);
    expect(JSON.stringify([stored, await run.events(), texts]), `error ${at}`).not.toContain(token.split('.')[1]);
    if (at === 0) {
      expect(stored!.message).toBe('POST https://mail.example.org/?text=/answer#1.[token] failed');
      expect(stored!.data).toEqual({ sent: [{ link: '1.[token]' }] });
    }
  }
});

test('a retry asks again, with a new timeout, what nobody has answered in time', async () => {
  const calls: string[] = [];
  const type = jobType('impatient', {
    retry: { attempts: 1 },
    run: async ({ step, waitFor }) => {
      await waitFor('first', { timeout: '1h' }).catch(() => null);
      await step('plan', () => void calls.push('planned'));
      const ask = (name: string) => waitFor(name, { timeout: '1d' });
      return Promise.all([ask('a'), ask('b'), step('beside', () => void calls.push('beside'))]);
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('2h');
  await t.advance('2d');
  expect(await run.get()).toMatchObject({ fate: 'failed', error: { name: 'AnswerTimedOut' } });
  await run.retry();
  expect((await t.engine.openQuestions()).questions).toMatchObject([{ name: 'a', until: null }, { name: 'b', until: null }]);
  await run.answer('b', 2);
  await t.advance('12h');
  expect(await run.explain()).toMatchObject([{ code: 'waits.answer', detail: { questions: [{ name: 'a' }] } }]);
  await t.answer(run, 'a', 1);
  expect(await resultOf(run)).toEqual([1, 2, null]);
  expect(calls).toEqual(['planned', 'beside']);
});

test('a retry from a step asks again what a branch beside it has not been answered in time', async () => {
  const calls: string[] = [];
  const type = jobType('impatient', {
    retry: { attempts: 1 },
    run: async ({ step, waitFor }) => {
      const asked = waitFor('first', { timeout: '1d' });
      const worked = step('beside', () => void calls.push('beside')).then(() => waitFor('second', { timeout: '1d' }));
      return Promise.all([asked, worked]);
    },
  });
  const t = await start({ types: [type] });
  for (const from of ['beside', 'second']) {
    const run = await t.createJobRun(type);
    await t.advance('2d');
    expect(await run.get()).toMatchObject({ fate: 'failed', error: { name: 'AnswerTimedOut' } });
    await run.retry({ from });
    await t.advance('12h');
    const [reason] = await run.explain();
    expect(reason).toMatchObject({ code: 'waits.answer', detail: { questions: [{ name: 'first' }, { name: 'second' }] } });
    await run.answer('first', 1);
    await t.answer(run, 'second', 2);
    expect(await resultOf(run)).toEqual([1, 2]);
  }
  expect(calls).toEqual(['beside', 'beside', 'beside']);
});

test('a retry of a run that was cancelled while it waited asks again, also from its question', async () => {
  const tokens: string[] = [];
  const type = asking({ timeout: '1d', notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  for (const options of [{}, { from: 'refund' }]) {
    const run = await t.createJobRun(type);
    await t.drain();
    await run.cancel();
    await t.advance('2d');
    await t.engine.pauseType('asking', { why: 'a deploy' });
    await run.retry(options);
    expect(await refused(t.engine.answerByToken(tokens.at(-1)!, 'old'))).toBe('unknown.wait');
    await t.engine.resumeType('asking');
    await t.advance('12h');
    expect(await run.explain()).toMatchObject([{ code: 'waits.answer' }]);
    await t.engine.answerByToken(tokens.at(-1)!, 'yes');
    await t.drain();
    expect(await resultOf(run)).toBe('yes');
    expect(tokens.splice(0)).toHaveLength(2);
  }
});

test('after its time a question takes no answer, even if its type is paused and the handler cannot notice', async () => {
  const tokens: string[] = [];
  const type = asking({ timeout: '1d', notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.engine.pauseJobRun(run.id);
  await t.advance('2d');
  expect(await refused(t.engine.questionOf(tokens[0]!))).toBe('unknown.wait');
  expect(await refused(t.engine.answerByToken(tokens[0]!, 1))).toBe('unknown.wait');
  expect((await refusal(run.answer('refund', 1))).message).toContain('has timed out at 2026-01-02');
  await t.engine.resumeJobRun(run.id);
  await t.drain();
  expect(await run.get()).toMatchObject({ fate: 'failed' });
});

test('a link does not answer a question that was asked again after its token was found', async () => {
  const tokens: string[] = [];
  const type = asking({ role: 'admin', notify: ({ token }) => void tokens.push(token) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const { store } = t.engine.jobs;
  const [load, openWaits] = [store.load.bind(store), store.openWaits.bind(store)];
  // After the token was looked up, the run fails and is retried from the question, before the answer is stored.
  let isFound = false;
  store.openWaits = async (after, limit) => {
    const found = await openWaits(after, limit);
    isFound = true;
    return found;
  };
  store.load = async (ids) => {
    if (isFound) {
      isFound = false;
      Object.assign(store, { load, openWaits });
      await t.answer(run, 'refund', 'first');
      await run.retry({ from: 'refund' });
    }
    return load(ids);
  };
  expect(await refused(t.engine.answerByToken(tokens[0]!, 'old link'))).toBe('unknown.wait');
  await t.drain();
  expect(await run.explain()).toMatchObject([{ code: 'waits.answer' }]);
});

test('wrong options of a wait fail the run with a sentence', async () => {
  const wrong = [
    { role: 'viewer' }, { timeout: 'soon' }, { schema: {} }, { schema: z.object({ when: z.date() }) }, { notify: 1 }, { notBy: [1] },
    { until: 1 }, { ask: 1 },
  ];
  for (const options of wrong) {
    const type = asking(options as WaitOptions);
    const t = await start({ types: [type] });
    const run = await t.createJobRun(type);
    await t.drain();
    expect((await run.get()).error?.id, JSON.stringify(options)).toMatch(/^malformed\./);
  }
});
