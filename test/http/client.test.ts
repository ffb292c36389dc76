// The client against a real server, and against one that fails.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, ProblemError } from '../../src/client.ts';
import { systemClock, type Clock } from '../../src/time/clock.ts';
import { records, tokens, untilGauge, world, type World } from './world.ts';
import { waitMs } from '../support/patience.ts';

let server: World;
let client: Client;
beforeAll(async () => {
  server = await world({ access: { tokens: records } });
  client = new Client({ url: `${server.url}/`, token: tokens.admin.token });
});
afterAll(() => server.close());

describe('the client', () => {
  test('creates a run and waits for its result', async () => {
    const run = await client.createRun({ type: 'echo', input: { a: [1] } });
    expect(await run.result({ timeoutMs: waitMs })).toEqual({ a: [1] });
    expect(await run.get()).toMatchObject({ id: run.id, standing: 'succeeded' });
  });

  test('follows a run and its log until it ends', async () => {
    const run = await client.createRun({ type: 'echo', delay: '200ms' });
    const told = await Array.fromAsync(run.watch());
    expect(told.at(-1)).toEqual({ event: 'end', data: { standing: 'succeeded' } });
    expect(told.flatMap((one) => (one.event === 'log' ? one.data.lines : [])).map(({ text }) => text)).toEqual(['heard']);
  });

  test('throws for a cancelled run and for a timeout', async () => {
    const run = await client.createRun({ type: 'patient' });
    await expect(run.result({ timeoutMs: 200 })).rejects.toMatchObject({ code: 'too.late' });
    await run.cancel('enough');
    await expect(run.result({ timeoutMs: waitMs })).rejects.toMatchObject({ code: 'run.cancelled' });
  });

  test('calls any route by name and iterates over all pages', async () => {
    for (let n = 0; n < 7; n++) await client.createRun({ type: 'elsewhere', tags: { 'a,b': 'c,d' } });
    const found = await Array.fromAsync(client.runs({ type: ['elsewhere'], limit: 3, tag: ['a,b:c,d'] }));
    expect(found).toHaveLength(7);
    expect((await client.call('countRuns', { query: { type: ['elsewhere'], state: ['open'] } })).total).toBe(7);
    expect((await client.call('me')).name).toBe('ada');
    expect(await client.call('metrics')).toContain('stint_jobs');
  });

  test('throws a refusal with its code', async () => {
    const error = await client.call('getRun', { params: { id: 424_242 } }).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status: 404, code: 'unknown.job', about: { id: 424_242 } });
    await expect(new Client({ url: server.url }).call('me')).rejects.toMatchObject({ status: 401 });
  });

  test('streams changes across a restart of the server', async () => {
    const own = await world();
    const proxy = await cutting(own.url);
    const through = new Client({ url: proxy.url, retries: 10 });
    const leave = new AbortController();
    const seen: string[] = [];
    const ids: number[] = [];
    const reading = (async () => {
      for await (const { job, event } of through.stream({ signal: leave.signal })) {
        seen.push(`${job} ${event.n}`);
      }
    })();
    await untilGauge(own, 'stint_stream_readers', 1);
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 10; n++) ids.push((await own.engine.createNamed({ type: 'echo' }, {})).id);
      await new Promise((resolve) => setTimeout(resolve, 50));
      proxy.cut();
    }
    const expected = ids.flatMap((id) => [`${id} 1`, `${id} 2`, `${id} 3`]).sort();
    while (seen.length < expected.length) await new Promise((resolve) => setTimeout(resolve, 20));
    leave.abort();
    await reading;
    expect(seen.toSorted()).toEqual(expected);
    await proxy.close();
    await own.close();
  });
});

describe('a call over a failing connection', () => {
  /** A server that breaks the connection, or answers so, before it answers well. */
  async function failing(
    failures: readonly (number | 'cut')[],
  ): Promise<{ url: string; seen: string[]; close(): Promise<void> }> {
    const left = [...failures];
    const seen: string[] = [];
    const flaky = createServer((request, response) => {
      seen.push(`${request.method} ${String(request.headers['idempotency-key'] ?? '-')}`);
      const failure = left.shift();
      if (failure === 'cut') return void request.socket.destroy();
      if (failure !== undefined) return void response.writeHead(failure, { 'content-type': 'text/plain' }).end('no');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 1, items: [], next: null }));
    });
    const url = await listening(flaky);
    return { url, seen, close: () => closed(flaky) };
  }

  test.each([[['cut', 503, 502]], [[429]]] as const)('is retried after %j if it only reads', async (failures) => {
    const flaky = await failing(failures);
    await new Client({ url: flaky.url }).call('listRuns');
    expect(flaky.seen).toHaveLength(failures.length + 1);
    await flaky.close();
  });

  test.each([
    ['7', 7_000, 7_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000, 30_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 100, 200],
    ['soon', 100, 200],
    ['-5', 100, 200],
    ['1e9', 100, 200],
  ])('waits at least as long as Retry-After says: %s', async (header, leastMs, mostMs) => {
    const answers = [new Response('no', { status: 429, headers: { 'retry-after': header } }), Response.json({ items: [], next: null })];
    const slept: number[] = [];
    const clock: Clock = {
      ...systemClock,
      now: () => Date.parse('2026-01-01T00:00:00Z'),
      sleep: async (ms) => void slept.push(ms),
    };
    await new Client({ url: 'http://here', clock, fetch: async () => answers.shift()! }).call('listRuns');
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeGreaterThanOrEqual(leastMs);
    expect(slept[0]).toBeLessThanOrEqual(mostMs);
  });

  test('is retried with the same key if it creates a run', async () => {
    const flaky = await failing(['cut', 504]);
    await new Client({ url: flaky.url }).createRun({ type: 'echo' });
    expect(new Set(flaky.seen).size).toBe(1);
    expect(flaky.seen).toHaveLength(3);
    expect(flaky.seen[0]).toMatch(/^POST [0-9a-f]{32}$/);
    await flaky.close();
  });

  test('is not retried if it could act twice', async () => {
    const flaky = await failing(['cut', 'cut']);
    await expect(new Client({ url: flaky.url }).run(1).retry()).rejects.toThrow();
    expect(flaky.seen).toHaveLength(1);
    await flaky.close();
  });

  test('fails after the maximum number of retries', async () => {
    const flaky = await failing([503, 503, 503]);
    await expect(new Client({ url: flaky.url, retries: 1 }).call('listRuns')).rejects.toMatchObject({ status: 503, code: 'http' });
    expect(flaky.seen).toHaveLength(2);
    await flaky.close();
  });
});

function listening(on: Server): Promise<string> {
  return new Promise((resolve) => {
    on.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(on.address() as AddressInfo).port}`));
  });
}

function closed(on: Server): Promise<void> {
  on.closeAllConnections();
  return new Promise((resolve) => {
    on.close(() => resolve());
  });
}

/** A proxy whose connections can be cut. */
async function cutting(target: string): Promise<{ url: string; cut(): void; close(): Promise<void> }> {
  const proxy = createServer((request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name !== 'host' && name !== 'connection'));
    const leave = new AbortController();
    response.on('close', () => leave.abort());
    fetch(target + request.url!, { headers: headers as Record<string, string>, signal: leave.signal })
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body!) response.write(chunk);
        response.end();
      })
      .catch(() => response.destroy());
  });
  const url = await listening(proxy);
  return { url, cut: () => proxy.closeAllConnections(), close: () => closed(proxy) };
}
