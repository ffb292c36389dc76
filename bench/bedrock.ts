/**
 * Measures the Bedrock server over loopback: `node bench/bedrock.ts [--jobs N] [--backlog N] [--json FILE]`. The server
 * runs in its own process on a SQLite file with `synchronous=FULL`; the clients run in this process.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SqliteDatabase } from './databases/sqlite.ts';
import { thisMachine } from './machine.ts';
import { machineText } from './report.ts';
import { BenchClient } from './bedrock/client.ts';
import type { BedrockData } from './results/data.ts';

const connections = 8;
const backlogTypes = 100;
const waiters = 1000;

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '8000' },
    backlog: { type: 'string', default: '1000000' },
    json: { type: 'string' },
  },
});
const jobs = Number(values.jobs);

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts a server process on a SQLite file. */
async function serve(path: string): Promise<Server> {
  const child = fork(new URL('./bedrock/serve.ts', import.meta.url), [path]);
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

/** CPU time of the server process so far. */
async function cpuUs({ child }: Server): Promise<number> {
  child.send('cpu');
  const [us] = (await once(child, 'message')) as [number];
  return us;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const connectAll = (port: number, count = connections): Promise<BenchClient[]> =>
  Promise.all(Array.from({ length: count }, () => BenchClient.connect(port)));

type Work = (client: BenchClient) => Promise<void>;

/** Divides `count` calls of `work` among the clients. Returns calls per second. */
async function rate(clients: readonly BenchClient[], count: number, work: Work): Promise<number> {
  const start = performance.now();
  await Promise.all(clients.map(async (client) => {
    for (let n = 0; n < count / clients.length; n++) await work(client);
  }));
  return (count / (performance.now() - start)) * 1000;
}

const data = JSON.stringify({ text: 'x'.repeat(180) });
const create = (name: string) => async (client: BenchClient): Promise<void> => {
  await client.request(`CreateJob\r\nname: ${name}\r\ndata: ${data}\r\n\r\n`);
};

async function cycle(client: BenchClient): Promise<void> {
  await create('cycle')(client);
  const id = await client.getJob('cycle');
  await client.request(`FinishJob\r\njobID: ${id}\r\n\r\n`);
}

async function measureRates(server: Server): Promise<BedrockData['perSecond']> {
  const clients = await connectAll(server.port);
  const measured: Record<string, number> = {};
  const measure = async (what: string, on: readonly BenchClient[], count: number, work: Work): Promise<void> => {
    const before = await cpuUs(server);
    const perSecond = await rate(on, count, work);
    measured[what] = perSecond;
    const us = ((await cpuUs(server)) - before) / count;
    const pace = `${Math.round(perSecond).toLocaleString('en')}/s`.padStart(10);
    console.log(what.padEnd(44), pace, `${us.toFixed(0).padStart(6)} µs of CPU`);
  };
  const claimedIds: number[] = [];
  const get = async (client: BenchClient): Promise<void> => void claimedIds.push(await client.getJob('work'));
  const finish = async (client: BenchClient): Promise<void> =>
    void (await client.request(`FinishJob\r\njobID: ${claimedIds.pop()}\r\n\r\n`));
  await rate(clients, 800, create('work'));
  await rate(clients, 800, get);
  await rate(clients, 800, finish);
  await measure('create', clients, jobs, create('work'));
  await measure('get', clients, jobs, get);
  await measure('finish', clients, jobs, finish);
  await measure('cycles', clients, jobs, cycle);
  await measure('cycles on one connection', clients.slice(0, 1), jobs / 8, cycle);
  for (const client of clients) client.close();
  return measured;
}

/** Median time of one GetJob that finds a job, in ms. */
async function timeGets(port: number, count: number): Promise<number> {
  const [client] = await connectAll(port, 1);
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    await create('needle')(client!);
    const start = performance.now();
    const id = await client!.getJob('needle');
    times.push(performance.now() - start);
    await client!.request(`FinishJob\r\njobID: ${id}\r\n\r\n`);
  }
  client!.close();
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

/** Measures the time from CreateJob to the reply of one of many waiting GetJob requests. */
async function measureWaiting(port: number): Promise<void> {
  const [producer] = await connectAll(port, 1);
  let onReply: (at: number) => void = () => {};
  const waiting = await connectAll(port, waiters);
  const wait = (client: BenchClient): void =>
    void client.request('GetJob\r\nname: wanted*\r\nConnection: wait\r\ntimeout: 600000\r\n\r\n').then((body) => {
      onReply(performance.now());
      if (body !== '') wait(client);
    });
  waiting.forEach(wait);
  const times: number[] = [];
  for (let n = 0; n < 200; n++) {
    const arrival = new Promise<number>((resolve) => (onReply = resolve));
    const start = performance.now();
    await create(`wanted${n}`)(producer!);
    times.push((await arrival) - start);
  }
  times.sort((a, b) => a - b);
  const [p50, p95] = [times[100]!.toFixed(1), times[190]!.toFixed(1)];
  console.log(`created and received by one of ${waiters}`.padEnd(44), `p50 ${p50} ms, p95 ${p95} ms`);
  for (const client of [...waiting, producer!]) client.close();
}

async function main(): Promise<void> {
  const machine = thisMachine();
  console.log(machineText(machine));
  const database = new SqliteDatabase();
  console.log(`${database.about}, ${connections} connections\n`);
  try {
    const scratch = await database.createScratch('ours', false);
    let server = await serve(scratch.address.location);
    const perSecond = await measureRates(server);
    await measureWaiting(server.port);
    const empty = await timeGets(server.port, 500);
    const [client] = await connectAll(server.port, 1);
    await create('other')(client!);
    client!.close();
    await stop(server.child);
    const backlog = Number(values.backlog);
    const types = Array.from({ length: backlogTypes }, (_, n) => `other-${n}`);
    await scratch.copyRows({ table: 'job', sample: 'other', count: backlog, first: 1_000_000_000, types });
    await scratch.cleanUp();
    server = await serve(scratch.address.location);
    const withBacklog = await timeGets(server.port, 500);
    console.log('GetJob, empty store'.padEnd(44), `${empty.toFixed(2)} ms`);
    const data: BedrockData = { machine, about: database.about, perSecond, getMs: { empty, withBacklog, backlog } };
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(data, null, 2)}\n`);
    const title = `GetJob, ${backlog.toLocaleString('en')} jobs of other names`;
    console.log(title.padEnd(44), `${withBacklog.toFixed(2)} ms (${(withBacklog / empty).toFixed(2)} ×)`);
    await stop(server.child);
  } finally {
    await database.close();
  }
}

await main();
