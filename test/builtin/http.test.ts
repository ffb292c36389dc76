// The built-in type that calls a URL: real servers on this machine, and all that a URL can try to get inside.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Reach } from '../../src/builtin/address.ts';
import { httpType, type HttpInput, type HttpTypeOptions } from '../../src/builtin/http.ts';
import { Engine, RunFailed, type Job } from '../../src/index.ts';

const here = ['127.0.0.0/8'];

interface Answering {
  readonly url: string;
  readonly port: number;
  readonly seen: IncomingMessage[];
}

async function server(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Answering> {
  const seen: IncomingMessage[] = [];
  const listening = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void (listening.closeAllConnections(), listening.close()));
  const { port } = listening.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

async function engineWith(
  options: HttpTypeOptions,
): Promise<(input: HttpInput) => Promise<{ result: Promise<unknown>; job: () => Promise<Job> }>> {
  const type = httpType(options);
  const engine = new Engine({ store: 'memory:', types: [type] });
  await engine.resume();
  onTestFinished(() => engine.close({ patience: '0s' }));
  return async (input) => {
    const run = await engine.createJobRun(type, { input });
    return { result: run.result(), job: () => run.get() };
  };
}

async function failureOf(options: HttpTypeOptions, input: HttpInput): Promise<RunFailed> {
  const run = await (await engineWith(options))(input);
  const error = await run.result.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunFailed);
  return error as RunFailed;
}

async function eventually(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a call', () => {
  test('sends method, headers and a JSON body, and keeps the answer', async () => {
    const { url, seen } = await server(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ heard: JSON.parse(body) as unknown, host: request.headers.host }));
    });
    const start = await engineWith({ allow: here });
    const { result } = await start({
      url: `${url}/hook?a=1`,
      method: 'POST',
      headers: { 'X-Own': 'yes' },
      body: { n: 1 },
    });
    expect(await result).toMatchObject({
      status: 200,
      body: { heard: { n: 1 }, host: new URL(url).host },
      isCut: false,
    });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/hook?a=1' });
    expect(seen[0]!.headers).toMatchObject({
      'x-own': 'yes',
      'content-type': 'application/json',
      'user-agent': 'stint',
    });
    expect(seen[0]!.headers['idempotency-key']).toMatch(/\d/);
  });

  test('is tried again when the server is busy, after the time it asks for', async () => {
    let calls = 0;
    const { url } = await server((_, response) => {
      calls += 1;
      response
        .writeHead(calls === 1 ? 503 : calls === 2 ? 429 : 200, calls < 3 ? { 'retry-after': '0' } : {})
        .end('done');
    });
    const { result } = await (await engineWith({ allow: here }))({ url });
    expect(await result).toMatchObject({ status: 200, body: 'done' });
    expect(calls).toBe(3);
  });

  test('waits as long as Retry-After says, as seconds or as a date', async () => {
    for (const said of ['3600', new Date(Date.now() + 3_600_000).toUTCString()]) {
      const { url } = await server((_, response) => response.writeHead(503, { 'retry-after': said }).end());
      const { job } = await (await engineWith({ allow: here }))({ url });
      await eventually(async () => (await job()).attempt === 1 && (await job()).state === 'pending');
      expect((await job()).due - Date.now()).toBeGreaterThan(3_500_000);
    }
  });

  test('that is wrong is not tried again', async () => {
    const { url, seen } = await server((_, response) => response.writeHead(404).end('nothing here'));
    const failure = await failureOf({ allow: here }, { url });
    expect(failure.message).toContain('responded with 404');
    expect(seen).toHaveLength(1);
  });

  test('keeps only the beginning of an endless answer and hangs up', async () => {
    let isGone = false;
    const { url } = await server((request, response) => {
      request.socket.on('close', () => (isGone = true));
      const more = (): void => {
        while (!isGone && response.write('x'.repeat(16_384)));
        if (!isGone) response.once('drain', more);
      };
      more();
    });
    const { result } = await (await engineWith({ allow: here }))({ url });
    const { body, isCut } = (await result) as { body: string; isCut: boolean };
    expect([body.length, isCut]).toEqual([65_536, true]);
    await eventually(async () => isGone);
  });

  test('that does not answer in time has timed out, also while it dribbles', async () => {
    const { url } = await server((request, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      request.socket.on('close', () => clearInterval(timer));
    });
    const { job } = await (await engineWith({ allow: here }))({ url, timeout: '200ms' });
    await eventually(async () => (await job()).attempt === 1 && (await job()).state === 'pending');
    expect((await job()).error).toMatchObject({ code: 'timed out', message: 'no complete response within 200 ms' });
  });

  test.each([
    { url: 'ftp://example.org/' },
    { url: 'file:///etc/passwd' },
    { url: 'gopher://x/' },
    { url: 'nothing' },
    { url: 'http://user:pass@example.org/' },
  ])('of $url is refused', async (input) => {
    expect((await failureOf({ allow: here }, input)).message).toMatch(/must begin with http|must not contain a user/);
  });

  test.each([
    { headers: { Host: 'other' } },
    { headers: { 'Content-Length': '3' } },
    { headers: { 'Transfer-Encoding': 'chunked' } },
    { headers: { 'X-A': 'a\r\nX-B: b' } },
    { headers: { 'X A': 'a' } },
    { method: 'CONNECT' as 'GET' },
    { file: '/etc/passwd' },
  ])('with %o is refused before it is stored', async (more) => {
    const start = await engineWith({});
    await expect(start({ url: 'https://example.org', ...more })).rejects.toMatchObject({ code: 'malformed.input' });
  });
});

const inward = [
  'http://127.0.0.1/',
  'http://localhost/',
  'http://localhost./',
  'http://127.1/',
  'http://127.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://0x7f.1/',
  'http://127.255.255.254/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:a9fe:a9fe]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fc00::1]/',
  'http://[ff02::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://198.18.0.1/',
  'http://192.0.0.192/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'https://10.0.0.1:8443/',
  'http:\\\\127.0.0.1\\',
  'http://127.0.0.1:80#@example.org/',
];

describe('a call that aims inside', () => {
  test.each(inward)('%s is refused, and not tried again', async (url) => {
    const resolve = async (): Promise<string[]> => ['127.0.0.1'];
    const failure = await failureOf({ resolve }, { url });
    expect(failure.message).toContain('is not public');
  });

  test.each([
    ['any of its addresses', ['93.184.216.34', '10.0.0.1']],
    ['a mapped address', ['::ffff:10.0.0.1']],
    ['a zone', ['fe80::1%eth0']],
    ['what is no address', ['metadata.internal']],
  ])('is refused for %s', async (_, addresses) => {
    expect((await failureOf({ resolve: async () => addresses }, { url: 'http://name.example/' })).message).toContain(
      'is not public',
    );
  });

  test('through a name that changes its answer reaches only what was checked', async () => {
    const inside = await server((_, response) => response.end('secret'));
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let asked = 0;
    const resolve = async (): Promise<string[]> => answers[asked++]!;
    // Nobody listens at the first address; a second question would lead to the server.
    const start = await engineWith({ resolve, allow: ['127.0.0.2'] });
    const { job } = await start({ url: `http://rebind.example:${inside.port}/` });
    await eventually(async () => (await job()).attempt === 1 && (await job()).state === 'pending');
    expect((await job()).error?.message).toContain('ECONNREFUSED 127.0.0.2');
    expect([asked, inside.seen.length]).toEqual([1, 0]);
  });

  test.each([
    'http://127.0.0.2:{port}/',
    '//127.0.0.2:{port}/',
    'http://[::ffff:127.0.0.2]:{port}/',
    'http://2130706434:{port}/',
    'file:///etc/passwd',
  ])('by a redirect to %s is refused', async (target) => {
    const { url, port, seen } = await server((_, response) =>
      response.writeHead(302, { location: target.replace('{port}', String(port)) }).end(),
    );
    const failure = await failureOf({ allow: ['127.0.0.1'] }, { url });
    expect(failure.message).toMatch(/is not public|must begin with http/);
    expect(seen).toHaveLength(1);
  });
});

describe('a redirect', () => {
  test('to another origin takes no secrets along, and to the same one does', async () => {
    const other = await server((_, response) => response.end('there'));
    const first = await server(({ url }, response) =>
      response.writeHead(307, { location: url === '/' ? '/on' : other.url }).end(),
    );
    const start = await engineWith({ allow: here });
    const headers = { Authorization: 'Bearer abc', Cookie: 'a=b', 'X-Harmless': 'yes' };
    expect(await (await start({ url: first.url, method: 'POST', body: 'text', headers })).result).toMatchObject({
      body: 'there',
    });
    expect(first.seen[1]!.headers).toMatchObject({ authorization: 'Bearer abc' });
    expect(other.seen[0]!.headers).toMatchObject({ 'x-harmless': 'yes', 'content-length': '4' });
    expect(other.seen[0]!.headers).not.toHaveProperty('authorization');
    expect(other.seen[0]!.headers).not.toHaveProperty('cookie');
    expect(other.seen[0]!.method).toBe('POST');
  });

  test('by 303 becomes a GET without a body, and one that never ends is given up', async () => {
    const { url, seen } = await server((_, response) => response.writeHead(303, { location: '/again' }).end());
    expect((await failureOf({ allow: here }, { url, method: 'POST', body: { a: 1 } })).message).toContain(
      'redirects more than 5 times',
    );
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET', 'GET', 'GET']);
    expect(seen[1]!.headers).not.toHaveProperty('content-type');
    expect(seen[1]!.headers).not.toHaveProperty('content-length');
  });
});

describe('the reach', () => {
  test.each(['8.8.8.8', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(new Reach().includes(address)).toBe(true);
    },
  );

  test('lets in ranges and single addresses, and refuses what is neither', () => {
    const reach = new Reach(['10.1.0.0/16', '::1']);
    expect(['10.1.2.3', '::1', '10.2.0.1', '127.0.0.1'].map((address) => reach.includes(address))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    for (const bad of ['10.0.0.0/33', 'localhost', '::1/129', ''])
      expect(() => new Reach([bad])).toThrow('is no address');
  });
});
