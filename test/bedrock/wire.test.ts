// Connections: the Connection header, slow and hostile clients, limits, and stopping the server.
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import type { BedrockServices } from '../../src/bedrock/call.ts';
import { answer } from '../../src/bedrock/commands.ts';
import { silent } from '../../src/logger.ts';
import { seededRandom } from '../../src/random.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Client } from './client.ts';
import { both, minute, onSqlite as test, second, sqlite, testOn, type BedrockWorld } from './world.ts';

const countOf = async (world: BedrockWorld): Promise<number> =>
  (await world.jobs.count()).reduce((sum, { count }) => sum + count, 0);

/** Whether the server has closed the connection, without a word. */
const isCutOff = async (client: Client): Promise<boolean> => (await client.answerOrEnd()) === null;

describe('a connection', () => {
  test('serves several requests', async ({ world }) => {
    for (let n = 1; n <= 20; n++) expect(await world.create({ name: 'x' })).toBe(n);
    expect(await world.status('Ping', { Connection: 'keep-alive' })).toBe('200 OK');
  });

  test('answers a hundred pipelined requests in order', async ({ world }) => {
    world.client.send(
      Array.from({ length: 100 }, (_, n) => `CreateJob\nname: n${n}\n\nQueryJob\njobID: ${n + 1}\n\n`).join(''),
    );
    const answers = await world.client.answers(200);
    const named = answers.filter((_, index) => index % 2 === 1).map(
      ({ body }) => (JSON.parse(body) as { name: string }).name,
    );
    expect(named).toEqual(Array.from({ length: 100 }, (_, n) => `n${n}`));
  });

  test('closes on Connection: close, and confirms it if the value is in lower case', async ({ world }) => {
    const client = await world.connect();
    client.send('Ping\nConnection: close\n\nCreateJob\nname: x\n\n');
    expect((await client.answer()).text).toBe('200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(await isCutOff(client)).toBe(true);
    const other = await world.connect();
    other.send('Ping\nConnection: CLOSE\n\n');
    expect((await other.answer()).headers).toEqual({ 'Content-Length': '0' });
    expect(await isCutOff(other)).toBe(true);
    expect(await countOf(world)).toBe(0);
  });

  test('is closed at once with Connection: forget, and the command runs', async ({ world }) => {
    const client = await world.connect();
    const { text } = await client.ask('CreateJob', { name: 'x', Connection: 'forget' });
    expect(text).toBe('202 Successfully queued\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(await isCutOff(client)).toBe(true);
    await world.until(async () => (await countOf(world)) === 1);
  });

  test('with Connection: forget gets no job, because the reply is not sent', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    await (await world.connect()).ask('GetJob', { name: 'x', Connection: 'forget' });
    await world.settle();
    expect(await world.state(id)).toBe('QUEUED');
  });

  test('with commandExecuteTime is closed at once, and the command runs at that time', async ({ world }) => {
    const client = await world.connect();
    const when = (world.clock.now() + minute) * 1000;
    expect((await client.ask('CreateJob', { name: 'x', commandExecuteTime: when })).status).toBe(
      '202 Successfully queued',
    );
    await world.advance(minute - 1);
    expect(await countOf(world)).toBe(0);
    await world.advance(1);
    await world.until(async () => (await countOf(world)) === 1);
    const past = (world.clock.now() - minute) * 1000;
    expect(await world.status('CreateJob', { name: 'y', commandExecuteTime: past })).toBe('200 OK');
  });

  test('refuses an unknown command', async ({ world }) => {
    for (const verb of ['Nonsense', 'CreateJobX', 'toString', '__proto__', 'constructor', 'jobs', ':']) {
      expect(await world.status(verb)).toBe('430 Unrecognized command');
    }
    expect(await world.status('cReAtEjOb', { NAME: 'x' })).toBe('200 OK');
  });

  test('answers the health check of load balancers', async ({ world }) => {
    const client = await world.connect();
    client.send('GET /status/handlingCommands HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await client.answer()).text).toBe('HTTP/1.1 200 LEADING\r\nContent-Length: 0\r\n\r\n');
  });
});

describe('a request in several chunks', () => {
  for (const frame of [
    'CreateJob\r\nname: fo\\\\o é\r\ndata: {"a":"x\\\\ny"}\r\nContent-Length: 4\r\n\r\n\n\nab',
    '\r\nCreateJob\nname: x\ndata: {"a":\n 1}\n\nPing\n\n',
  ]) {
    test(`gets the same reply: ${JSON.stringify(frame.slice(0, 20))}…`, async ({ world }) => {
      const bytes = Buffer.from(frame);
      const count = frame.includes('Ping') ? 2 : 1;
      for (let cut = 1; cut < bytes.length; cut++) {
        world.client.send(bytes.subarray(0, cut));
        await new Promise((resolve) => setImmediate(resolve));
        world.client.send(bytes.subarray(cut));
        const answers = await world.client.answers(count);
        expect(answers.map(({ status }) => status), `cut at ${cut}`).toEqual(Array(count).fill('200 OK'));
      }
      expect(await countOf(world)).toBe(bytes.length - 1);
    });
  }
});

describe('a client that does not speak Bedrock', () => {
  const evil = 'CreateJob\nname: evil\n\n';

  test.for<[string, string]>([
    ['a form of a page', `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 22\r\n\r\n${evil}`],
    ['a form whose first line is long', `POST /${'x'.repeat(3000)} HTTP/1.1\r\n\r\n${evil}`],
    ['a page that asks', `GET /CreateJob?name=evil HTTP/1.1\r\nHost: x\r\n\r\n${evil}`],
    ['a script with a method of its own', `CreateJob / HTTP/1.1\r\nname: evil\r\nOrigin: http://evil.example\r\n\r\n`],
    ['a script that fetches', `CREATEJOB / HTTP/1.1\r\nname: evil\r\nHost: localhost:8888\r\n\r\n`],
    ['a page that sends a header in another case', `CreateJob\r\nname: evil\r\nSEC-FETCH-SITE: cross-site\r\n\r\n`],
  ])('%s is disconnected and creates nothing', async ([, text], { world }) => {
    const client = await world.connect();
    client.send(text);
    expect(await isCutOff(client)).toBe(true);
    expect(await countOf(world)).toBe(0);
  });

  test('an unreadable request is refused once, after the replies to the requests before it', async ({ world }) => {
    const client = await world.connect();
    client.send(`CreateJob\nname: before\n\nPing\nContent-Length: 1, 2\n\n${evil}`);
    expect((await client.answer()).status).toBe('200 OK');
    expect((await client.answer()).text).toBe('400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(await isCutOff(client)).toBe(true);
    expect(await countOf(world)).toBe(1);
  });

  test('a client that keeps sending after a refusal is disconnected', async ({ world }) => {
    const socket = connect(world.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('Ping\rPing\n\n');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString()).toContain('400 Bad Request');
    socket.write('more\n\n');
    await world.advance(4 * second);
    if (!socket.closed) await once(socket, 'close');
  });

  test('random bytes create no job without a reply, and the server keeps running', async ({ world }) => {
    const random = seededRandom(7);
    const pick = (from: readonly string[]): string => from[Math.floor(random.next() * from.length)]!;
    const bits = [
      '\n\nCreateJob\nname: x\n', 'CreateJob', 'GetJob', 'Ping', 'CreateJobs', '\n', '\r\n', '\n\n', '\r\n\r\n',
      'name: ', 'x', 'data: {"a":1}', 'jobs: [{"name":"y"}]', ':', ' ', '\\', '\\u0000', '{', '}', 'Content-Length: 3',
      'timeout: 5', 'Connection: close', 'é', '\t', 'jobID: 1', 'POST / HTTP/1.1',
    ];
    let created = 0;
    for (let n = 0; n < 400; n++) {
      const client = await world.connect();
      client.send(Array.from({ length: 3 + Math.floor(random.next() * 20) }, () => pick(bits)).join(''));
      client.send('\n\n\n\nPing\nConnection: close\n\n');
      for (let told = await client.answerOrEnd(); told !== null; told = await client.answerOrEnd()) {
        const { jobID, jobIDs } = (told.body === '' ? {} : JSON.parse(told.body)) as {
          jobID?: number; jobIDs?: number[],
        };
        if (told.body.startsWith('{"jobID')) created += jobID === undefined ? jobIDs!.length : 1;
      }
      await client.close();
    }
    expect(await countOf(world)).toBe(created);
    expect(created).toBeGreaterThan(0);
    expect(await world.status('Ping')).toBe('200 OK');
  });
});

const hasty = testOn(sqlite, { patience: { headMs: 2000, bodyMs: 5000, idleMs: 20_000, writeMs: 4000 } });

describe('a slow client', () => {
  hasty('is one of many, and the others are served meanwhile', async ({ world }) => {
    const slow = await Promise.all(Array.from({ length: 500 }, () => world.connect()));
    for (const client of slow) client.send('CreateJob\nname: x');
    await world.settle();
    const id = await world.create({ name: 'y' });
    expect((await world.get('y')).jobID).toBe(id);
    expect(await world.passing(Promise.all(slow.map(isCutOff)))).toEqual(Array(500).fill(true));
    expect(await countOf(world)).toBe(1);
  });

  const isOpen = (client: Client): boolean => !client.socket.closed && !client.socket.readableEnded;

  hasty('is disconnected when its request takes too long', async ({ world }) => {
    const client = await world.connect();
    client.send('Pi');
    await world.settle();
    for (const piece of ['n', 'g', '\n']) {
      await world.advance(500);
      client.send(piece);
      await world.settle();
    }
    expect(isOpen(client)).toBe(true);
    await world.advance(2000);
    expect(await isCutOff(client)).toBe(true);
    expect(world.said.at(-1)).toMatchObject({ about: { why: 'too slow' } });
  });

  hasty('has longer for a body', async ({ world }) => {
    const client = await world.connect();
    client.send('Ping\nContent-Length: 9\n\nabc');
    await world.settle();
    await world.advance(4000);
    expect(isOpen(client)).toBe(true);
    await world.advance(3000);
    expect(await isCutOff(client)).toBe(true);
  });

  hasty('is disconnected when it is idle too long', async ({ world }) => {
    const client = await world.connect();
    await world.advance(15_000);
    expect((await client.ask('Ping')).status).toBe('200 OK');
    await world.advance(15_000);
    expect((await client.ask('Ping')).status).toBe('200 OK');
    await world.advance(22_000);
    expect(await isCutOff(client)).toBe(true);
    world.client = await world.connect();
  });

  hasty('that waits for a job is not silent', async ({ world }) => {
    const { jobID } = await world.worker({ name: 'x' });
    await world.waiting(1);
    await world.advance(60_000);
    world.client = await world.connect();
    const id = await world.create({ name: 'x' });
    expect(await jobID).toBe(id);
  });

  hasty('that does not read its jobs loses them', async ({ world }) => {
    const data = { text: 'd'.repeat(20_000) };
    const { jobIDs } = await world.json<{ jobIDs: number[] }>(
      'CreateJobs', { jobs: Array(40).fill({ name: 'x', data }) },
    );
    for (let n = 0; n < 12; n++) await world.json('CreateJobs', { jobs: Array(40).fill({ name: 'x', data }) });
    const worker = await world.connect();
    worker.socket.pause();
    worker.send('GetJobs\nname: x\nnumResults: 1000\n\n');
    await world.until(async () => (await world.state(jobIDs[0]!)) === 'RUNNING');
    await world.advance(10_000);
    world.client = await world.connect();
    await world.until(async () => (await world.state(jobIDs[0]!)) === 'QUEUED');
    expect((await world.jobs.find({ standings: ['running'] })).jobs).toHaveLength(0);
    worker.socket.resume();
  });
});

const few = testOn(sqlite, { connectionsMax: 3, connectionsPerAddressMax: 2 });
const fewInAll = testOn(sqlite, { connectionsMax: 2 });

describe('too many connections', () => {
  few('from one address are refused', async ({ world }) => {
    const second_ = await world.connect();
    expect((await second_.ask('Ping')).status).toBe('200 OK');
    const third = await world.connect();
    expect(await isCutOff(third)).toBe(true);
    await second_.close();
    await world.until(async () => {
      const another = await world.connect();
      another.send('Ping\n\n');
      return (await another.answerOrEnd()) !== null;
    });
  });

  fewInAll('in total are refused', async ({ world }) => {
    const second_ = await world.connect();
    await second_.ask('Ping');
    expect(await isCutOff(await world.connect())).toBe(true);
  });
});

describe('a worker that is gone', () => {
  for (const { name, test: onStore } of both) {
    onStore(`before its answer is written leaves its job to others, on ${name}`, async ({ world }) => {
      const id = await world.create({ name: 'x' });
      for (const leave of ['resetAndDestroy', 'destroy'] as const) {
        const worker = await world.connect();
        worker.socket.write('GetJob\nname: x\n\n', () => worker.socket[leave]());
        await worker.closed;
      }
      let jobID = 0;
      await world.until(async () => {
        await world.advance(100);
        const { body } = await world.ask('GetJob', { name: 'x' });
        if (body !== '') jobID = (JSON.parse(body) as { jobID: number }).jobID;
        return jobID === id;
      });
      expect((await world.events(id)).filter((kind) => kind === 'lapsed')).toEqual([]);
    });
  }

  test('leaves to others all jobs whose replies it has not read, if it had asked for them at once', async ({ world }) => {
    const ids = [
      await world.create({ name: 'x' }), await world.create({ name: 'x' }), await world.create({ name: 'x' }),
    ];
    const worker = await world.connect();
    worker.socket.pause();
    worker.send('GetJob\nname: x\nContent-Length: 0\n\nGetJob\nname: x\nContent-Length: 0\n\n');
    await world.until(async () => (await world.state(ids[1]!)) === 'RUNNING');
    worker.send('GetJob\nname: x\nContent-Length: 0\n\n');
    await world.until(async () => (await world.state(ids[2]!)) === 'RUNNING');
    worker.socket.resetAndDestroy();
    await worker.closed;
    const states = (): Promise<string[]> => Promise.all(ids.map((id) => world.client.state(id)));
    await world.until(async () => (await states()).every((state) => state === 'QUEUED'));
  });

  test('after it has read its reply keeps its job', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    const worker = await world.connect();
    await worker.ask('GetJob', { name: 'x' });
    await worker.close();
    await world.advance(second);
    expect(await world.state(id)).toBe('RUNNING');
  });

  test('by a TCP reset long after its reply keeps its job, because a router may have caused the reset', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    const worker = await world.connect();
    await worker.ask('GetJob', { name: 'x' });
    await world.advance(10 * second);
    worker.socket.resetAndDestroy();
    await worker.closed;
    await world.settle();
    await world.advance(second);
    expect(await world.state(id)).toBe('RUNNING');
  });

  test('does not undo later changes of its job', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    const worker = await world.connect();
    await worker.ask('GetJob', { name: 'x' });
    await world.json('FinishJob', { jobID: id });
    worker.socket.resetAndDestroy();
    await worker.closed;
    await world.settle();
    expect(await world.state(id)).toBe('gone');
  });
});

describe('a server that stops', () => {
  test('answers running commands, accepts nothing new, and closes', async ({ world }) => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { store } = world;
    const slow = new Proxy(store, {
      get: (target, name) => {
        if (name === 'commit') return async (batch: Parameters<typeof store.commit>[0]) => gate.then(
          () => store.commit(batch),
        );
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
      },
    });
    const server = await world.serve({}, new Jobs(slow));
    const { client } = world;
    const idle = await world.connect();
    client.send('CreateJob\nname: x\n\nCreateJob\nname: y\n\n');
    await world.settle();
    const closing = server.close();
    expect(await isCutOff(idle)).toBe(true);
    await expect(world.connect()).rejects.toThrow('ECONNREFUSED');
    open();
    expect((await client.answer()).body).toBe('{"jobID":1}');
    expect(await isCutOff(client)).toBe(true);
    await closing;
    expect(await countOf(world)).toBe(1);
    expect(await server.close()).toBeUndefined();
  });

  test('drops scheduled commands and logs their number', async ({ world }) => {
    const server = await world.serve({});
    await world.ask('CreateJob', { name: 'x', commandExecuteTime: (world.clock.now() + minute) * 1000 });
    await server.close();
    expect(world.said.at(-1)).toMatchObject(
      { text: 'dropped scheduled Bedrock commands', about: { count: 1 } },
    );
  });

  const hurried = testOn(sqlite, { closeMs: 1000 });
  hurried('disconnects a client that does not close in time', async ({ world }) => {
    const server = await world.serve({ closeMs: 1000 });
    const socket = connect({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    await once(socket, 'connect');
    const closing = server.close();
    await world.client.closed;
    await world.passing(closing);
    socket.destroy();
  });
});

describe('clients on other machines', () => {
  const stranger = { name: 'stranger', isLocal: false, isGone: false, whenGone: () => () => {} };

  test('may use jobs, but not the administrative commands', async ({ world }) => {
    const desk = { store: world.store, crashing: new Map() } as unknown as BedrockServices;
    const ask = async (verb: string) => {
      const call = { line: verb, verb: verb.toLowerCase(), headers: new Map(), caller: stranger, services: desk };
      return (await answer(call, silent)).status;
    };
    const statuses = [];
    for (const verb of ['Query', 'Query:', 'CrashBedrockJob', 'ClearCrashedBedrockJobs', 'Ping']) statuses.push(
      await ask(verb),
    );
    expect(statuses).toEqual([...Array(4).fill('401 Unauthorized'), '200 OK']);
  });

  test('cannot connect unless isOpenToAll is set', async ({ world }) => {
    for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.com']) {
      await expect(world.serveOn(host, {})).rejects.toThrow('no authentication');
    }
    await expect(world.serveOn('0.0.0.0', { isOpenToAll: true })).resolves.toBeUndefined();
    await expect(world.serveOn('localhost', {})).resolves.toBeUndefined();
  });
});
