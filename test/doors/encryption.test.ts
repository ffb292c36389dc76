// Encrypted payloads: nothing readable in the database, everything readable with the keys, a placeholder without.
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { program } from '../../src/cli/program.ts';
import { createHttp } from '../../src/http/server.ts';
import { encrypt, Engine, jobDef, jobType, type EngineOptions, type Logger } from '../../src/index.ts';
import { storeKindsOfRun, World } from '../engine/processes/world.ts';

const planted = 'planted-7f3a91';
const secrets = { k1: Buffer.alloc(32, 1), k2: Buffer.alloc(32, 2) };
const by = (current: 'k1' | 'k2') => encrypt({ keys: secrets, current });

const echo = jobType('echo', {
  run: async ({ input, log, output, progress }) => {
    await output.write({ planted });
    log.info(`input ${JSON.stringify(input)}`);
    progress.startingProcess(`for ${planted}`);
    progress.completedProcess(planted);
    return { echoed: input };
  },
});
const broken = jobType('broken', {
  retry: { attempts: 1 },
  run: () => {
    const error = new Error(`cannot reach ${planted}`, { cause: new TypeError(planted) });
    throw Object.assign(error, { code: planted, data: { planted } });
  },
});
/** More tasks than one commit stores, so that they are staged. */
const many = jobType('many', {
  jobDetails: () => ({ planted }),
  taskDetails: () => Array.from({ length: 1_001 }, () => ({ planted })),
  taskResults: ({ task }: { task: { planted: string } }) => task.planted,
  jobResults: ({ counts }) => `${counts.succeeded} ${planted}`,
});
const def = jobDef('def', echo, { params: { planted } });
const types = [echo, broken, many];

async function storedText(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    const files = [path, `${path}-wal`].filter((file) => existsSync(file));
    return files.map((file) => readFileSync(file, 'latin1')).join('\n');
  }
  const client = new pg.Client(url);
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'stint'`);
  const texts: string[] = [];
  for (const { name } of tables) {
    texts.push(...(await client.query<{ t: string }>(`select t::text as t from ${name} t`)).rows.map(({ t }) => t));
  }
  await client.end();
  return texts.join('\n');
}

describe.each(storeKindsOfRun)('on $name', (kind) => {
  let place: World;
  let engine: Engine;
  const lines: string[] = [];
  const log = (text: string, about?: object): void => void lines.push(`${text} ${JSON.stringify(about)}`);
  const logger: Logger = { info: log, warn: log, error: log };
  const open = (options: EngineOptions): Engine => new Engine({ store: place.url, types, ...options });

  beforeAll(async () => {
    place = await World.create(kind);
    engine = open({ defs: [def], codec: by('k1'), logger });
    await engine.resume();
  });
  afterAll(async () => {
    await engine.close();
    await place[Symbol.asyncDispose]();
  });

  test('a planted text is in no file or table, log line or metric, and every door with the keys shows it', async () => {
    const echoed = await engine.createJobRun(echo, { input: { planted } });
    const failed = await engine.createJobRun(broken, { input: planted });
    const fanned = await engine.createJobRun(many);
    const later = await engine.createJobRun(echo, { input: planted, delay: '1d' });
    await engine.editJobRun(later.id, { input: JSON.stringify({ again: planted }) }, { by: 'ada' });
    await engine.override('def', { params: { more: planted } }, { by: 'ada' });
    const called = await engine.createJobRun(def);
    expect(await echoed.result()).toEqual({ echoed: { planted } });
    expect(await called.result()).toEqual({ echoed: { more: planted } });
    expect(await fanned.result()).toBe(`1001 ${planted}`);
    await expect(failed.result()).rejects.toThrow(planted);
    await place.until('the log', async () => (await echoed.log()).length > 0);

    const raw = await storedText(place.url);
    expect(raw.includes('aes-256-gcm:k1:')).toBe(true);
    expect(raw.includes(planted)).toBe(false);
    expect(lines.filter((line) => line.includes(planted))).toEqual([]);
    expect(lines.some((line) => line.startsWith(`run ${failed.id} (broken) failed {`))).toBe(true);

    expect((await echoed.log())[0]!.text).toContain(planted);
    expect((await echoed.output())[0]!.value).toEqual({ planted });
    expect(JSON.stringify((await engine.snapshot(echoed.id)).progress)).toContain(planted);
    expect((await engine.get(later.id)).input).toBe(JSON.stringify({ again: planted }));
    expect(JSON.stringify(await engine.history(later.id))).toContain(planted);
    expect((await failed.get()).error).toMatchObject({ message: `cannot reach ${planted}`, data: { planted } });
    expect(JSON.stringify((await engine.jobs.events(null, 10_000)).events)).toContain(planted);
    expect(JSON.stringify((await engine.jobs.audited()).records)).toContain(planted);

    const http = createHttp({ engine, dashboard: null });
    const { url } = await http.listen({ port: 0 });
    const text = async (path: string): Promise<string> => (await fetch(url + path)).text();
    expect(await text(`/api/v1/runs/${echoed.id}`)).toContain(planted);
    expect(await text('/metrics')).not.toContain(planted);
    await http.close();
  });

  test('the run of a request from the inbox is encrypted', async () => {
    const options = JSON.stringify({ tags: { from: 'sql' } });
    await engine.jobs.store.enqueue([{ type: 'echo', input: JSON.stringify({ planted }), options }]);
    const found = await place.until('the run', async () => (await engine.find({ tags: { from: 'sql' } })).jobs[0]);
    expect(await engine.run(found.id).result()).toEqual({ echoed: { planted } });
    expect((await place.engine.get(found.id)).input).toMatch(/^\{"\$encoded":"aes-256-gcm:k1:/);
  });

  test('without the keys, payloads are placeholders, and an attempt fails with the id of the key', async () => {
    const run = await engine.createJobRun(echo, { input: { planted } });
    await run.result();
    const failed = await engine.createJobRun(broken);
    await failed.result().catch(() => {});
    const waiting = await engine.createJobRun(jobType('elsewhere', { run: () => {} }), { input: planted });

    const elsewhere = jobType('elsewhere', { retry: { attempts: 1 }, run: ({ input }) => input });
    await using blind = new Engine({ store: place.url, types: [elsewhere], instance: 'blind' });
    await blind.resume();
    expect(await blind.run(run.id).result().catch((error: unknown) => error)).toMatchObject({
      code: 'encoded.payload', detail: { $encrypted: 'k1' },
    });
    expect((await blind.snapshot(run.id)).progress).toBeNull();
    expect((await blind.log(run.id))[0]!.text).toBe('(encrypted with the key k1)');
    expect((await blind.output(run.id))[0]!.value).toEqual({ $encrypted: 'k1' });
    expect((await blind.get(failed.id)).error).toMatchObject({ code: 'unknown', message: '(encrypted)' });
    await blind.run(waiting.id).result().catch(() => {});
    expect((await blind.get(waiting.id)).error).toMatchObject({
      id: 'encoded.payload',
      message: `cannot read the input of job ${waiting.id}: it is encrypted with the key k1; ` +
        'this process does not have it, or the stored text has changed',
    });

    const http = createHttp({ engine: blind, dashboard: null });
    const { url } = await http.listen({ port: 0 });
    const get = async (path: string): Promise<unknown> => (await fetch(`${url}/api/v1${path}`)).json();
    expect(await get(`/runs/${run.id}`)).toMatchObject({ input: { $encrypted: 'k1' }, result: { $encrypted: 'k1' } });
    expect(await get(`/runs/${failed.id}`)).toMatchObject({ error: { data: { $encrypted: 'k1' } } });
    for (const path of ['/defs', '/defs/def', `/runs/${run.id}/log`, `/runs/${run.id}/output`, `/runs/${run.id}/events`, '/runs', '/failures']) {
      expect(await get(path), path).not.toHaveProperty('status', 500);
    }
    await http.close();
  });

  test('the command line shows payloads with the keys of STINT_ENCRYPTION_KEYS, and placeholders without', async () => {
    const run = await engine.createJobRun(echo, { input: { planted } });
    await run.result();
    const shown = async (): Promise<string> => {
      const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      await program().parseAsync(['node', 'stint', 'runs', 'show', String(run.id), '--store', place.url]);
      const text = write.mock.calls.map(([part]) => String(part)).join('');
      write.mockRestore();
      return text;
    };
    expect(await shown()).toContain('input       {"$encrypted":"k1"}');
    const keys = Object.fromEntries(Object.entries(secrets).map(([id, secret]) => [id, secret.toString('base64')]));
    vi.stubEnv('STINT_ENCRYPTION_KEYS', JSON.stringify({ current: 'k2', keys }));
    expect(await shown()).toContain(`input       {"planted":"${planted}"}`);
    vi.unstubAllEnvs();
  });

  test('keys rotate while runs are worked, and runs stored before any key are worked too', async () => {
    const plain = open({ instance: 'plain' });
    const old = await plain.createJobRuns(echo, Array.from({ length: 20 }, (_, n) => ({ input: { n } })));
    const second = open({ codec: by('k1'), instance: 'second' });
    await second.resume();
    const create = (by_: Engine) => by_.createJobRuns(echo, Array.from({ length: 50 }, (_, n) => ({ input: { n } })));
    const first = await Promise.all([create(engine), create(second)]);
    await second.close();
    const rotated = open({ codec: by('k2'), instance: 'rotated' });
    await rotated.resume();
    const then = await Promise.all([create(engine), create(rotated)]);
    const results = await Promise.all([...first, ...then].flat().map(({ id }) => rotated.run(id).result()));
    expect(results).toEqual([...first, ...then].flatMap((runs) => runs.map((_, n) => ({ echoed: { n } }))));
    expect(await Promise.all(old.map(({ id }) => rotated.run(id).result()))).toEqual(
      old.map((_, n) => ({ echoed: { n } })));
    expect((await storedText(place.url)).includes('aes-256-gcm:k2:')).toBe(true);
    await rotated.close();
    await plain.close();
  });
});
