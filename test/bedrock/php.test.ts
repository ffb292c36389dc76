// The requests of Bedrock-PHP and of its worker manager, byte for byte, and the replies that they rely on.
import { describe, expect } from 'vitest';
import { onSqlite as test, type BedrockWorld } from './world.ts';

type PhpValue = string | number | boolean | null | readonly unknown[] | object;

/** As its Client::call writes it: empty values left out, JSON with every backslash doubled, always a Content-Length. */
function phpRequest(method: string, headers: Readonly<Record<string, PhpValue>>): string {
  const lines = Object.entries({ writeConsistency: 'ASYNC', timeout: 110_000, ...headers }).flatMap(([name, value]) => {
    const text = phpValue(value);
    return text === '' ? [] : [`${name}: ${text}\r\n`];
  });
  return `${method}\r\n${lines.join('')}Content-Length: 0\r\n\r\n`;
}

function phpValue(value: PhpValue): string {
  if (value === null) return '';
  if (typeof value === 'object') return phpJson(value).replaceAll('\\', '\\\\');
  const escapes: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\\': '\\\\' };
  return String(value).replace(/[\r\n\t\\]/g, (character) => escapes[character]!);
}

/** json_encode escapes slashes and what is not ASCII; an empty array is a list unless it is cast. */
const phpJson = (value: object): string =>
  JSON.stringify(value).replaceAll('/', '\\/').replace(
    /[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

async function call(world: BedrockWorld, method: string, headers: Readonly<Record<string, PhpValue>> = {}) {
  world.client.send(phpRequest(method, headers));
  const answer = await world.client.answer();
  expect(answer.headers, 'it looks for exactly this spelling').toHaveProperty('Content-Length');
  return {
    code: Number(answer.status.slice(0, 3)),
    codeLine: answer.status,
    body: answer.body === '' ? [] : (JSON.parse(answer.body) as never),
  };
}

describe('the PHP client', () => {
  test('creates a job with all headers that it always sends', async ({ world }) => {
    const { code, body } = await call(world, 'CreateJob', {
      name: 'www-prod/Worker?a=1&b=c/d', data: {
        path: 'a/b', text: 'é "quoted" \\ back\nline', list: [1, 2.0], _commitCounts: {},
      },
      firstRun: '', repeat: '', unique: false, jobPriority: 500, parentJobID: 0, Connection: 'wait', idempotent: false,
      retryAfter: '', overwrite: true, requestID: 'abc', lastIP: '10.0.0.1', commitCount: 12_345, logParam: 'x',
    });
    expect([code, body]).toEqual([200, { jobID: 1 }]);
    const job = await call(world, 'GetJob', { name: 'www-prod/Worker*' });
    expect(job.body).toMatchObject({
      name: 'www-prod/Worker?a=1&b=c/d', data: { path: 'a/b', text: 'é "quoted" \\ back\nline', list: [1, 2] },
    });
  });

  test('creates many jobs with jobPriority', async ({ world }) => {
    const jobs = [{ name: 'a/b', data: { x: '/' }, jobPriority: 1000 }, { name: 'c', data: {}, unique: true }];
    expect((await call(world, 'CreateJobs', { jobs, Connection: 'wait', idempotent: true })).body).toEqual(
      { jobIDs: [1, 2] },
    );
    expect((await call(world, 'QueryJob', { jobID: 1, idempotent: true })).body).toMatchObject(
      { name: 'a/b', data: { x: '/' }, priority: 1000 },
    );
  });

  test('finishes, fails, deletes, queries, updates, retries, requeues and cancels', async ({ world }) => {
    await call(world, 'CreateJob', { name: 'x', data: {}, Connection: 'wait' });
    await call(world, 'GetJob', { name: 'x' });
    const asks: [string, Record<string, PhpValue>, string][] = [
      ['UpdateJob', { jobID: 1, data: { n: 1 }, repeat: '', jobPriority: null, nextRun: null }, '200 OK'],
      [
        'RetryJob',
        { jobID: 1, delay: 0, data: { n: 2 }, name: '', nextRun: '', priority: null, ignoreRepeat: false },
        '200 OK',
      ],
      ['RequeueJobs', { jobIDs: '1', name: '' }, '200 OK'],
      ['CancelJob', { jobID: 1 }, '404 Invalid jobID - Cannot cancel a job without a parent'],
      ['FailJob', { jobID: 1, data: null }, '405 Can only fail RUNNING or RUNQUEUED jobs'],
      ['DeleteJob', { jobID: 1 }, '200 OK'],
      ['FinishJob', { jobID: 1, data: null }, '404 No job with this jobID'],
    ];
    for (const [method, headers, codeLine] of asks) {
      expect((await call(world, method, { ...headers, idempotent: true })).codeLine, method).toBe(codeLine);
    }
  });

  test('gets the matching status for malformed, unknown and forbidden requests', async ({ world }) => {
    expect((await call(world, 'FinishJob')).code).toBe(402);
    expect((await call(world, 'FinishJob', { jobID: 9 })).code).toBe(404);
    await call(world, 'CreateJob', { name: 'x' });
    expect((await call(world, 'FinishJob', { jobID: 1 })).code).toBe(405);
  });
});

test('the worker manager gets a batch with mocks, and finishes, retries and fails its jobs', async ({ world }) => {
  for (const name of ['www-prod/A', 'www-prod/B?x=1', 'www-prod/C']) await call(
    world, 'CreateJob', { name, data: { n: 1 } },
  );
  await call(world, 'CreateJob', { name: 'www-prod/M', mockRequest: true });
  const { body } = await call(world, 'GetJobs', { name: 'www-prod/*', numResults: 10, getMockedJobs: true });
  const { jobs } = body as unknown as {
    jobs: { jobID: number; data: object; name: string; nextRun: string; retryAfter: string }[],
  };
  expect(jobs).toHaveLength(4);
  for (const job of jobs) {
    expect(Object.keys(job)).toEqual(expect.arrayContaining(['jobID', 'name', 'data', 'nextRun', 'retryAfter']));
    expect(job.name).toMatch(/^[\w-]+\/\w+(\?.*)?$/);
  }
  const [a, b, c, m] = jobs;
  expect((await call(world, 'FinishJob', { jobID: a!.jobID, data: { ...a!.data, done: true } })).code).toBe(200);
  expect((await call(world, 'RetryJob', { jobID: b!.jobID, delay: 60, data: b!.data })).code).toBe(200);
  expect((await call(world, 'FailJob', { jobID: c!.jobID, data: { ...c!.data, exception: 'boom' } })).code).toBe(200);
  expect((await call(world, 'FinishJob', { jobID: m!.jobID, data: m!.data })).code).toBe(200);
  expect((await call(world, 'GetJobs', { name: 'www-prod/*', numResults: 10, getMockedJobs: true })).code).toBe(404);
});
