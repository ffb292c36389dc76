// Middleware around creations, at every door of a process: library, transactions, ticks, HTTP and Bedrock.
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, every, jobDef, jobType, type Middleware, type NewRun } from '../../src/index.ts';
import { createHttp, type Http } from '../../src/http/server.ts';
import { startBedrock, type StartedBedrock } from '../../src/bedrock/start.ts';
import { Client } from '../bedrock/client.ts';
import { storeKindsOfRun, World } from '../engine/processes/world.ts';

const echo = jobType('echo', { run: ({ input }) => input });
const template = jobDef('template', echo, { params: { n: 1 } });
const soon = jobDef('soon', echo, { params: { n: 2 }, schedules: every('1s') });

describe.each(storeKindsOfRun)('on $name', (kind) => {
  const seen: NewRun[] = [];
  const closed = { isClosed: false };
  const middleware: Middleware[] = [{
    create: (run, next) => {
      seen.push(run);
      if (closed.isClosed) throw new Error('closed for today');
      return next({ tags: { tenant: 'acme' }, input: { ...(run.input as object), added: true } });
    },
  }];
  let place: World;
  let engine: Engine;
  let http: Http;
  let url: string;
  let bedrock: StartedBedrock;
  let client: Client;

  beforeAll(async () => {
    place = await World.create(kind);
    engine = new Engine({ store: place.url, types: [echo], defs: [template], middleware });
    await engine.ready();
    http = createHttp({ engine, dashboard: null });
    url = (await http.listen({ port: 0 })).url;
    bedrock = await startBedrock({ engine, port: 0 });
    client = await Client.connect(bedrock.port);
  });

  afterAll(async () => {
    await client.close();
    await bedrock.close();
    await http.close();
    await engine.close();
    await place[Symbol.asyncDispose]();
  });

  const post = async (path: string, body: object): Promise<{ status: number; code?: string; id?: number }> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, ...((await response.json()) as object) };
  };

  async function inTransaction(): Promise<number> {
    if (kind.name === 'SQLite') {
      const db = new DatabaseSync(place.url.slice('sqlite:'.length));
      db.exec('BEGIN');
      try {
        return (await engine.in(db).createJobRun(echo, { input: { n: 1 } })).id;
      } finally {
        db.exec('COMMIT');
        db.close();
      }
    }
    const tx = new pg.Client(place.url);
    await tx.connect();
    await tx.query('BEGIN');
    try {
      return (await engine.in(tx).createJobRun(echo, { input: { n: 1 } })).id;
    } finally {
      await tx.query('COMMIT');
      await tx.end();
    }
  }

  const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(() => 'not refused', (error: { code?: string }) => error.code);

  const doors: [string, () => Promise<number>, () => Promise<unknown>][] = [
    ['createJobRun', async () => (await engine.createJobRun(echo, { input: { n: 1 } })).id,
      () => codeOf(engine.createJobRun(echo))],
    ['createJobRun of a definition', async () => (await engine.createJobRun(template)).id,
      () => codeOf(engine.createJobRun(template))],
    ['createJobRuns', async () => (await engine.createJobRuns(echo, [{ input: { n: 1 } }]))[0]!.id,
      () => codeOf(engine.createJobRuns(echo, [{}]))],
    ['engine.in(tx)', inTransaction, () => codeOf(inTransaction())],
    ['POST /runs', async () => (await post('/runs', { type: 'echo', input: { n: 1 } })).id!,
      async () => (await post('/runs', { type: 'echo' })).code],
    ['POST /defs/…/run', async () => (await post('/defs/template/run', {})).id!,
      async () => (await post('/defs/template/run', {})).code],
    ['CreateJob of Bedrock',
      async () => Number(JSON.parse((await client.ask('CreateJob', { name: 'b', data: '{"n":1}' })).body).jobID),
      async () => ((await client.ask('CreateJob', { name: 'b' })).status === '403 Refused' ? 'refused.creation' : null)],
  ];

  test.each(doors)('%s passes through it, and is refused by it', async (_, create, refuse) => {
    const { input, tags } = await engine.get(await create());
    expect({ input: JSON.parse(input), tags }).toEqual({ input: { n: 1, added: true }, tags: { tenant: 'acme' } });
    closed.isClosed = true;
    try {
      expect(await refuse()).toBe('refused.creation');
    } finally {
      closed.isClosed = false;
    }
  });

  test('ticks pass through it', async () => {
    await using ticker = new Engine({ store: place.url, types: [echo], defs: [soon], middleware });
    await ticker.resume();
    const runs = async () => (await ticker.find({ def: 'soon' })).jobs;
    await place.until('a tick', async () => (await runs()).length > 0);
    const { input, tags } = (await runs())[0]!;
    expect({ input: JSON.parse(input), tags }).toEqual({ input: { n: 2, added: true }, tags: { tenant: 'acme' } });
    expect(seen.some(({ def, tickTime }) => def === 'soon' && tickTime !== null)).toBe(true);
  });
});
