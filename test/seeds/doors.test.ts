// Statements of the seeds that speak of programs and machines elsewhere, shown with real ones: the command line, a
// server with HTTP and the Bedrock protocol, a machine whose clock is wrong.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Engine, jobDef, jobType } from '../../src/index.ts';
import { Client } from '../bedrock/client.ts';
import { Place } from '../cli/stint.ts';
import { untilTold } from '../engine/api/kit.ts';
import * as children from '../engine/processes/children/patient.ts';
import { eventsOf, kindsOf } from '../engine/processes/histories.ts';
import { storeKinds, World } from '../engine/processes/world.ts';

const child = (name: string): string => fileURLToPath(new URL(`./children/${name}`, import.meta.url));
const [, postgres] = storeKinds;
const patient = jobType('patient', { run: () => 'patient' });

describe.concurrent.each(storeKinds)('on $name', (kind) => {
  test('5.16 the command line, HTTP and the Bedrock protocol create runs', async ({ onTestFinished }) => {
    await using world = await World.create(kind);
    using place = new Place();
    const { url: store } = world;
    const served = place.start('serve', '--store', store, '--http', '127.0.0.1:0', '--bedrock', '127.0.0.1:0');
    // Also when the test times out.
    onTestFinished(async () => void (await served.kill()));
    const byCommand = await place.stint('runs', 'create', 'patient', '--json', '--store', store);
    await using engine = new Engine({ store, types: [patient] });
    await engine.resume();
    const [, http] = await served.says(/HTTP +(\S+)/);
    const [, port] = await served.says(/Bedrock +\S+:(\d+)/);
    const created = await fetch(`${http}/api/v1/runs`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'patient' }),
    });
    const ids = [(JSON.parse(byCommand.out) as { id: number }).id, ((await created.json()) as { id: number }).id];
    const client = await Client.connect(Number(port));
    onTestFinished(() => client.close());
    const queued = JSON.parse((await client.ask('CreateJob', { name: 'patient' })).body) as { jobID: number };
    // Programs without code for the type created them; the instance that has it executes them.
    for (const id of ids) expect(await engine.run(id).result()).toBe('patient');
    const handed = JSON.parse((await client.ask('GetJob', { name: 'patient' })).body) as { jobID: number };
    expect((await client.ask('FinishJob', { jobID: handed.jobID })).status).toBe('200 OK');
    expect([handed.jobID, await kindsOf(world.engine.run(queued.jobID))]).toEqual([
      queued.jobID, ['created', 'claimed', 'succeeded'],
    ]);
  });

  test('4.17 the command line refuses a run by hand while a run of its type is open', async () => {
    await using world = await World.create(kind);
    using place = new Place();
    const def = jobDef('one', jobType('alone', { onePerType: true, run: ({ signal }) => untilTold(signal) }));
    await using engine = new Engine({ store: world.url, defs: [def] });
    await engine.resume();
    const run = await engine.createJobRun(def);
    await world.until('the start', async () => (await run.get()).state === 'running');
    const { code, err } = await place.stint('defs', 'run', 'one', '--store', world.url);
    await run.cancel();
    expect([code, err]).toEqual([2, expect.stringContaining('busy.type')]);
  });
});

describe.concurrent('on PostgreSQL, which has a clock of its own', () => {
  test('5.08 an instance two hours ahead claims nothing early and keeps its lease', async () => {
    await using world = await World.create(postgres!);
    await world.start('patient', 'ahead', { flags: ['--import', child('skew.ts')] });
    const now = await serverTime(world.url);
    const run = await world.engine.createJobRun(children.patient, { delay: '1s' });
    await world.entry({ what: 'start' });
    const [instance] = (await world.engine.instances()).filter(({ id }) => id === 'ahead');
    expect(instance!.leaseUntil - now).toBeLessThan(3_600_000);
    world.open('go');
    expect(await run.result()).toBe('patience was rewarded');
    const events = await run.events();
    expect(await kindsOf(run)).toEqual(['created', 'claimed', 'succeeded']);
    expect(eventsOf(events, 'claimed')[0]!.at).toBeGreaterThanOrEqual((await run.get()).due);
  });

  test('5.08 the first run of a program two hours ahead is due in time', async () => {
    await using world = await World.create(postgres!);
    const before = await serverTime(world.url);
    const flags = ['--import', child('skew.ts'), child('producer.ts'), world.url];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    const after = await serverTime(world.url);
    const { due } = await world.engine.get(Number(stdout));
    expect([due >= before + 2_000, due <= after + 2_000]).toEqual([true, true]);
  });
});

async function serverTime(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const statement = 'select floor(extract(epoch from clock_timestamp()) * 1000) as now';
  const { rows } = await client.query<{ now: string }>(statement);
  await client.end();
  return Number(rows[0]!.now);
}
