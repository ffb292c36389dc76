// Alerts of a program: declared, watched by its engine and sent to a real receiver, in virtual time.
import { describe, expect, onTestFinished, test } from 'vitest';
import { encrypt, Engine, jobAlert, jobType, openStore, Refusal, type AlertOptions, type EngineOptions } from '../../src/index.ts';
import { VirtualClock } from '../../src/testing/index.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { Receiver } from './receiver.ts';

const here = ['127.0.0.0/8'];
let isBroken = true;
const mail = jobType('mail', { retry: { attempts: 1 }, run: () => { if (isBroken) throw new Error('the relay is down'); } });

async function receiver(): Promise<Receiver> {
  const listening = await new Receiver().listen();
  onTestFinished(() => listening.close());
  return listening;
}

async function start(options: EngineOptions = {}): Promise<{ engine: Engine; clock: VirtualClock }> {
  isBroken = true;
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const engine = new Engine({ store: openStore('memory:', { clock }), clock, types: [mail], alertAllow: here, ...options });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  onTestFinished(() => engine.close({ patience: '0s' }));
  return { engine, clock };
}

/** Advances the clock until this many messages were received. */
async function receive({ received }: Receiver, clock: VirtualClock, count: number): Promise<void> {
  while (received.length < count) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const code = async (asked: Promise<unknown>): Promise<string> =>
  asked.then(() => 'accepted', (error: unknown) => (error instanceof Refusal ? error.code : String(error)));

test('a failure is sent to a webhook once, and so is the recovery', async () => {
  const to = await receiver();
  const { engine, clock } = await start({ alerts: [jobAlert('mail-fails', { when: 'failed', to: { webhook: `${to.url}/hook` } })] });
  const runs = await engine.createJobRuns(mail, [{}, {}, {}]);
  await receive(to, clock, 1);
  const [{ body, headers, path }] = to.received as [Receiver['received'][0]];
  expect([path, headers['content-type']]).toEqual(['/hook', 'application/json']);
  expect(body).toMatchObject({
    alert: 'mail-fails', number: 1, isTest: false, from: 1, to: 1, failing: 1, recovered: 0,
    changes: [{ subject: 'type mail', isFailing: true, error: 'the relay is down' }],
  });
  expect(runs.map(({ id }) => id)).toContain(body.changes[0].run);
  expect(body.text).toMatch(/^Alert mail-fails: 1 failing\n- type mail is failing \(run \d+\): the relay is down$/);
  expect(headers['idempotency-key']).toBe(body.id);
  isBroken = false;
  await engine.createJobRun(mail);
  await receive(to, clock, 2);
  await clock.advance(600_000);
  expect(to.received.map((each) => each.body.changes.map((change: { isFailing: boolean }) => change.isFailing))).toEqual([[true], [false]]);
  expect(await engine.alert('mail-fails')).toMatchObject({ failing: 0, changes: 2, messages: 2 });
});

test('a Slack-compatible target gets the text', async () => {
  const to = await receiver();
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to: { slack: `${to.url}/services/T0/B0/secret` } })] });
  await engine.createJobRun(mail);
  await receive(to, clock, 1);
  expect(Object.keys(to.received[0]!.body)).toEqual(['text']);
  expect(to.received[0]!.body.text).toContain('type mail is failing');
});

test('the text of an error mentions nobody in Slack', async () => {
  const to = await receiver();
  const rude = jobType('rude', { retry: { attempts: 1 }, run: () => { throw new Error('<!channel> & more'); } });
  const { engine, clock } = await start({ types: [rude], alerts: [jobAlert('a', { when: 'failed', to: { slack: to.url } })] });
  await engine.createJobRun(rude);
  await receive(to, clock, 1);
  expect(to.received[0]!.body.text).toContain('&lt;!channel&gt; &amp; more');
});

test('a message is sent again, with the same key, until its target accepts it', async () => {
  const to = await receiver();
  to.statuses.push(503, 500);
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to: { webhook: to.url } })] });
  await engine.createJobRun(mail);
  await receive(to, clock, 3);
  expect(new Set(to.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  await clock.advance(1_000);
  expect((await engine.sentAlerts('a')).items).toMatchObject([{ standing: 'succeeded', message: { number: 1 } }]);
});

test('a corrected target applies to the message that could not be sent', async () => {
  const to = await receiver();
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to: { webhook: `${to.url}/old` } })] });
  to.statuses.push(500);
  await engine.createJobRun(mail);
  await receive(to, clock, 1);
  await engine.editAlert('a', { to: { webhook: `${to.url}/new` } });
  await receive(to, clock, 2);
  expect(to.received.map(({ path }) => path)).toEqual(['/old', '/new']);
});

test.each([404, 301, 304])('a message that the target answers with %i is sent again, and the answer is not stored', async (status) => {
  const to = await receiver();
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to: { webhook: `${to.url}/token-1234` } })] });
  to.statuses.push(status, status);
  await engine.createJobRun(mail);
  await receive(to, clock, 3);
  await clock.advance(1_000);
  expect(to.received.map(({ path, body }) => [path, body?.number])).toEqual(Array(3).fill(['/token-1234', 1]));
  const [sent] = (await engine.sentAlerts('a')).items;
  expect(sent).toMatchObject({ standing: 'succeeded', attempts: 3 });
  const shown = JSON.stringify([await engine.get(sent!.run), await engine.history(sent!.run), await engine.log(sent!.run)]);
  expect(shown).toContain(`${status}`);
  expect(shown).not.toContain('token-1234');
});

test('a test message is sent at once, whatever the state, and tried once', async () => {
  const to = await receiver();
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to: { webhook: to.url }, enabled: false })] });
  to.statuses.push(500);
  const run = await engine.testAlert('a');
  await receive(to, clock, 1);
  await clock.advance(60_000);
  expect(to.received[0]!.body).toMatchObject({ isTest: true, text: 'Alert a: this is a test message' });
  expect((await engine.sentAlerts('a')).items).toMatchObject([{ run, standing: 'failed', attempts: 1 }]);
});

test('a target that is not public is refused unless it is allowed', async () => {
  const { engine, clock } = await start({
    alerts: [jobAlert('a', { when: 'failed', to: { webhook: 'http://127.0.0.1:1/token-1234' } })], alertAllow: [],
  });
  const run = await engine.testAlert('a');
  await clock.advance(1_000);
  const job = await engine.get(run);
  expect([job.state, job.error!.message]).toEqual(['ended', expect.stringContaining('is not public')]);
  expect(JSON.stringify([job, await engine.history(run), await engine.log(run)])).not.toContain('token-1234');
});

test('two engines of different builds declare alerts of their own, and what operators changed stays', async () => {
  const to = { webhook: 'https://example.com/x' } as const;
  const { engine, clock } = await start({ alerts: [jobAlert('a', { when: 'failed', to })], build: 'one' });
  await engine.editAlert('a', { every: '5m' }, { by: 'olga', why: 'too many' });
  const second = new Engine({ store: engine.jobs.store, clock, alerts: [jobAlert('a', { when: { late: '1h' }, to }), jobAlert('b', { when: 'failed', to })], build: 'two' });
  const resumed = second.resume();
  await clock.advance(0);
  await resumed;
  expect(await engine.alerts()).toMatchObject([
    { name: 'a', when: 'late by 1h', every: '5m', isDeclared: true, override: { fields: ['every'], by: 'olga', why: 'too many' } },
    { name: 'b', when: 'failed', override: null },
  ]);
  expect(await engine.editAlert('a', null)).toMatchObject({ every: '1m', override: null });
  await second.suspend();
});

test('with encryption, the store has neither the target nor the errors, and an engine without the key leaves alerts alone', async () => {
  const clock = new VirtualClock(0);
  const store = new MemoryStore(clock);
  const codec = encrypt({ keys: { k: Buffer.alloc(32, 1) }, current: 'k' });
  const { engine } = await start({ store, clock, codec, alerts: [jobAlert('a', { when: 'failed', to: { webhook: 'https://example.com/token-1234' } })] });
  expect(JSON.stringify(await store.memos(''))).not.toMatch(/token-1234|example/);
  expect((await engine.alert('a')).to).toBe('webhook example.com');
  const keyless = new Engine({ store, clock });
  expect(await code(keyless.alerts())).toBe('encoded.payload');
});

test('with encryption, the store has no error of a run in the message of an alert', async () => {
  const to = await receiver();
  const clock = new VirtualClock(0);
  const store = new MemoryStore(clock);
  const codec = encrypt({ keys: { k: Buffer.alloc(32, 1) }, current: 'k' });
  const { engine } = await start({ store, clock, codec, alerts: [jobAlert('a', { when: 'failed', to: { webhook: to.url } })] });
  await engine.createJobRun(mail);
  await receive(to, clock, 1);
  expect(to.received[0]!.body.changes[0].error).toBe('the relay is down');
  const [sent] = (await engine.sentAlerts('a')).items;
  expect(sent!.message.changes[0]!.error).toBe('the relay is down');
  expect(JSON.stringify([await store.load([sent!.run]), await store.history(sent!.run)])).not.toContain('relay');
});

describe('an alert is refused', () => {
  const to = { webhook: 'https://example.com' } as const;

  test.each<[string, Partial<Record<keyof AlertOptions, unknown>>]>([
    ['without a condition', { to }],
    ['without a target', { when: 'failed' }],
    ['with two conditions', { when: { late: '1m', longerThan: '1m' }, to }],
    ['with an unknown condition', { when: 'broken', to }],
    ['with two targets', { when: 'failed', to: { webhook: to.webhook, slack: to.webhook } }],
    ['with a URL of another scheme', { when: 'failed', to: { webhook: 'ftp://example.com' } }],
    ['with a password in its URL', { when: 'failed', to: { webhook: 'https://a:b@example.com' } }],
    ['that sends more often than every second', { when: 'failed', to, every: '10ms' }],
    ['with an unknown option', { when: 'failed', to, evry: '1m' } as never],
  ])('%s', (_, options) => {
    expect(() => jobAlert('a', options as never)).toThrow(expect.objectContaining({ code: 'malformed.option' }));
  });

  test('if its name is taken, unknown or invalid', async () => {
    const { engine } = await start();
    await engine.defineAlert('a', { when: 'failed', to });
    expect(await code(engine.defineAlert('a', { when: 'failed', to }))).toBe('taken.alert');
    expect(await code(engine.alert('b'))).toBe('unknown.alert');
    expect(await code(engine.editAlert('b', { every: '1m' }))).toBe('unknown.alert');
    expect(await code(engine.editAlert('a', null))).toBe('malformed.option');
    expect(await code(engine.editAlert('a', {}))).toBe('malformed.option');
    expect(await code(engine.deleteAlert('b'))).toBe('unknown.alert');
    expect(await code(engine.testAlert('b'))).toBe('unknown.alert');
    expect(await code(engine.defineAlert('a b', { when: 'failed', to }))).toBe('malformed.name');
    await engine.deleteAlert('a');
    expect(await engine.alerts()).toEqual([]);
  });
});
