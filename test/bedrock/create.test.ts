// CreateJob and CreateJobs: checks and their order, unique jobs, families, mocks.
import { describe, expect } from 'vitest';
import type { Fields } from './client.ts';
import { at, both, hour, minute, onSqlite as test, second } from './world.ts';

describe('CreateJob', () => {
  test('replies with small increasing ids', async ({ world }) => {
    expect((await world.ask('CreateJob', { name: 'a' })).body).toBe('{"jobID":1}');
    expect([await world.create({ name: 'a' }), await world.create({ name: 'b' })]).toEqual([2, 3]);
  });

  test('stores the given fields, and defaults for the others', async ({ world }) => {
    const id = await world.create({ name: 'usual' });
    expect(await world.query(id)).toEqual({
      created: at(0), data: {}, jobID: id, lastRun: '', name: 'usual', nextRun: at(0), priority: 500, repeat: '',
      retryAfter: '', state: 'QUEUED',
    });
    const full = await world.create({
      name: 'all', data: { a: 1 }, firstRun: '2026-03-02 03:04:05', repeat: 'scheduled, +1 day', jobPriority: 1000,
      retryAfter: '+5 minutes', nextRun: '2020-01-01', created: '2020-01-01', state: 'FAILED', jobID: 77,
    });
    expect(await world.query(full)).toEqual({
      created: at(0), data: { a: 1 }, jobID: full, lastRun: '', name: 'all', nextRun: '2026-03-02 03:04:05',
      priority: 1000, repeat: 'SCHEDULED, +1 DAY', retryAfter: '+5 minutes', state: 'QUEUED',
    });
  });

  test.for<[string, Fields, string]>([
    ['no name', {}, '402 Missing name'],
    ['an empty name', { name: '' }, '402 Missing name'],
    ['a name of 256 bytes', { name: 'é'.repeat(128) }, '402 Malformed name'],
    ['a name of several lines', { name: 'a\nb' }, '402 Malformed name'],
    ['a name with a tab', { name: 'a\tb' }, '402 Malformed name'],
    ['a priority that is none', { name: 'x', jobPriority: 501 }, '402 Invalid priority value'],
    ['a priority by its other name', { name: 'x', priority: 501 }, '402 Invalid priority value'],
    ['empty data', { name: 'x', data: '' }, '402 Data is not a valid JSON Object'],
    ['a space in empty data', { name: 'x', data: '{ }' }, '402 Data is not a valid JSON Object'],
    ['data that is a list', { name: 'x', data: '[1]' }, '402 Data is not a valid JSON Object'],
    ['data that is no JSON', { name: 'x', data: '{a:1}' }, '402 Data is not a valid JSON Object'],
    [
      'data that is too deep',
      { name: 'x', data: `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}` },
      '402 Data is not a valid JSON Object',
    ],
    ['a retryAfter that is none', { name: 'x', retryAfter: '5 minutes' }, '402 Malformed retryAfter'],
    ['a retryAfter that is for repeats only', { name: 'x', retryAfter: 'START OF HOUR' }, '402 Malformed retryAfter'],
    ['a firstRun that is none', { name: 'x', firstRun: 'tomorrow' }, '402 Malformed firstRun'],
    ['a firstRun in ISO 8601', { name: 'x', firstRun: '2026-12-24T18:00:00Z' }, '402 Malformed firstRun'],
    ['a firstRun that is no day', { name: 'x', firstRun: '2026-02-30' }, '402 Malformed firstRun'],
    ['a parent that does not exist', { name: 'x', parentJobID: 4711 }, '404 parentJobID does not exist'],
    ['a parent that cannot exist', { name: 'x', parentJobID: -1 }, '404 parentJobID does not exist'],
    ['a repeat that is none', { name: 'x', repeat: 'sometimes' }, '402 Malformed repeat'],
    ['a repeat without a base', { name: 'x', repeat: '+1 DAY' }, '402 Malformed repeat'],
    ['a repeat with a space after the sign', { name: 'x', repeat: 'FINISHED, + 1 HOUR' }, '402 Malformed repeat'],
    [
      'a repeat with a space before the comma',
      { name: 'x', repeat: 'FINISHED, +1 DAY , +1 HOUR' },
      '402 Malformed repeat',
    ],
  ])('refuses %s, and stores nothing', async ([, fields, status], { world }) => {
    expect(await world.status('CreateJob', fields)).toBe(status);
    expect((await world.jobs.count()).length).toBe(0);
  });

  test.for<[string, Fields]>([
    ['a name of 255 bytes', { name: 'n'.repeat(255) }],
    ['names that look like numbers', { name: '123' }],
    ['a priority that is no number, which is 0', { name: 'x', jobPriority: 'abc' }],
    ['an empty priority, which is 0', { name: 'x', jobPriority: '' }],
    ['a priority with something behind it', { name: 'x', jobPriority: '750x' }],
    ['literally empty data', { name: 'x', data: '{}' }],
    ['a day as firstRun', { name: 'x', firstRun: '2026-12-24' }],
    ['milliseconds in firstRun', { name: 'x', firstRun: '2026-12-24 18:00:00.250' }],
    ['a parent that is no number, which is none', { name: 'x', parentJobID: 'abc' }],
    ['an empty repeat, which is none', { name: 'x', repeat: '' }],
    ['a comma too many', { name: 'x', repeat: 'FINISHED, +1 DAY,' }],
    ['retryAfter with repeat and unique', { name: 'x', retryAfter: '+1 HOUR', repeat: 'HOURLY', unique: 'true' }],
    ['a list of modifiers in retryAfter', { name: 'x', retryAfter: '+1 HOUR, +5 MINUTES' }],
  ])('accepts %s', async ([, fields], { world }) => {
    expect(await world.status('CreateJob', fields)).toBe('200 OK');
  });

  test('reports errors in the same order as the original', async ({ world }) => {
    const all: [string, string, string][] = [
      ['name', '', '402 Missing name'],
      ['jobPriority', '1', '402 Invalid priority value'],
      ['data', 'x', '402 Data is not a valid JSON Object'],
      ['retryAfter', 'x', '402 Malformed retryAfter'],
      ['firstRun', 'x', '402 Malformed firstRun'],
      ['parentJobID', '99', '404 parentJobID does not exist'],
      ['repeat', 'x', '402 Malformed repeat'],
    ];
    for (const [index, [, , status]] of all.entries()) {
      const fields = Object.fromEntries(all.slice(index).map(([name, value]) => [name, value]));
      expect(await world.status('CreateJob', { name: 'x', ...fields })).toBe(status);
    }
  });

  test('keeps data as it was written, also numbers beyond the range of JavaScript', async ({ world }) => {
    const data = '{"id": 9223372036854775807, "f":1.0,"z":"\\u00e9", "a":[1e2]}';
    const id = await world.create({ name: 'exact', data });
    expect((await world.ask('QueryJob', { jobID: id })).body).toContain(`"data":${data},"jobID"`);
    expect((await world.ask('GetJob', { name: 'exact' })).body).toContain(`"data":${data},"jobID"`);
  });

  test('unescapes backslashes as clients write them', async ({ world }) => {
    world.client.send(
      'CreateJob\nname: x\ndata: {"a":"x\\\\ny"}\n\nCreateJob\nname: x\ndata: {"a":"say \\"hi\\""}\n\n',
    );
    expect((await world.client.answer()).status).toBe('200 OK');
    expect((await world.client.answer()).status).toBe('402 Data is not a valid JSON Object');
    expect((await world.get('x')).data).toEqual({ a: 'x\ny' });
  });
});

describe('a unique job', () => {
  test('is created once and found in any state', async ({ world }) => {
    const id = await world.create({ name: 'u', unique: 'true', data: { a: 1 } });
    expect(await world.create({ name: 'u', unique: 'true', data: { a: 1 } })).toBe(id);
    expect(await world.create({ name: 'u' })).not.toBe(id);
    await world.get('u');
    expect(await world.create({ name: 'u', unique: 'true', data: { a: 1 } })).toBe(id);
  });

  test('needs the value true', async ({ world }) => {
    const id = await world.create({ name: 'u' });
    for (const unique of ['TRUE', '1', 'yes', '']) expect(await world.create({ name: 'u', unique })).not.toBe(id);
    expect(await world.create({ name: 'u', unique: 'true' })).toBe(id);
  });

  test('with the same data is unchanged, whatever the other fields are', async ({ world }) => {
    const id = await world.create({ name: 'u', unique: 'true', data: { a: 1 }, jobPriority: 1000, repeat: 'DAILY' });
    await world.create({ name: 'u', unique: 'true', data: { a: 1 }, jobPriority: 0, repeat: 'nonsense' });
    expect(await world.query(id)).toMatchObject({ priority: 1000, repeat: 'DAILY' });
    expect(await world.events(id)).toEqual(['created']);
  });

  test('with other data is updated, and omitted fields are reset', async ({ world }) => {
    const fields = { name: 'u', unique: 'true' };
    const id = await world.create(
      { ...fields, data: { a: 1, b: { c: 1, d: 2 } }, jobPriority: 1000, repeat: 'DAILY', retryAfter: '+1 HOUR' },
    );
    await world.advance(minute);
    expect(await world.create({ ...fields, data: { a: null, b: { c: 3 }, e: 5 }, firstRun: '2030-01-01' })).toBe(id);
    expect(await world.query(id)).toMatchObject({
      data: { b: { c: 3, d: 2 }, e: 5 }, priority: 500, repeat: '', retryAfter: '+1 HOUR', nextRun: at(0),
      created: at(0),
    });
    expect(await world.status('CreateJob', { ...fields, data: { x: 1 }, repeat: 'nonsense' })).toBe(
      '402 Malformed repeat',
    );
  });

  test('keeps the numbers of new data as written', async ({ world }) => {
    const id = await world.create({ name: 'u', unique: 'true', data: '{"n":9007199254740993}' });
    await world.create({ name: 'u', unique: 'true', data: '{"m":9007199254740995}' });
    expect((await world.ask('QueryJob', { jobID: id })).body).toContain('{"n":9007199254740993,"m":9007199254740995}');
  });

  test('is not changed with overwrite: false', async ({ world }) => {
    const id = await world.create({ name: 'u', unique: 'true', data: { a: 1 } });
    await world.create({ name: 'u', unique: 'true', data: { a: 2 }, overwrite: 'false' });
    expect((await world.query(id)).data).toEqual({ a: 1 });
    await world.create({ name: 'u', unique: 'true', data: { a: 2 }, overwrite: 'true' });
    expect((await world.query(id)).data).toEqual({ a: 2 });
  });

  test('that was renamed frees its name', async ({ world }) => {
    const id = await world.running({ name: 'u', unique: 'true' });
    await world.json('RetryJob', { jobID: id, name: 'v' });
    const other = await world.create({ name: 'u', unique: 'true' });
    expect(other).not.toBe(id);
    expect(await world.create({ name: 'u', unique: 'true' })).toBe(other);
    expect(await world.create({ name: 'v', unique: 'true' })).toBe(id);
  });

  for (const { name, test: testOn } of both) {
    testOn(`requested by many clients at once is created once, on ${name}`, async ({ world }) => {
      const clients = await Promise.all(Array.from({ length: 8 }, () => world.connect()));
      const answers = await Promise.all(
        clients.map((client, n) => client.ask('CreateJob', { name: 'u', unique: 'true', data: { n } })),
      );
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      expect((await world.jobs.count({ types: ['u'] })).reduce((sum, { count }) => sum + count, 0)).toBe(1);
    });
  }
});

describe('CreateJobs', () => {
  const jobs = (...list: unknown[]): Fields => ({ jobs: list });

  test('replies with the ids in the order of the jobs', async ({ world }) => {
    expect((await world.ask('CreateJobs', jobs({ name: 'a' }, { name: 'b' }, { name: 'a' }))).body).toBe(
      '{"jobIDs":[1,2,3]}',
    );
  });

  test.for<[string, string, string]>([
    ['nothing', '', '401 Invalid JSON'],
    ['an object', '{"name":"a"}', '401 Invalid JSON'],
    ['an empty list', '[]', '401 Invalid JSON'],
    ['an empty object', '[{}]', '401 Invalid JSON'],
    ['what is no object', '[{"name":"a"},1]', '401 Invalid JSON'],
    ['what is no JSON', '[{name:"a"}]', '401 Invalid JSON'],
    ['a job without a name', '[{"name":"a"},{"data":{}}]', '402 Missing name'],
    ['a job with an empty name', '[{"name":""}]', '402 Missing name'],
    ['a job with a long name', `[{"name":"${'n'.repeat(256)}"}]`, '402 Malformed name'],
    ['data that is null', '[{"name":"a","data":null}]', '402 Data is not a valid JSON Object'],
    ['data that is a list', '[{"name":"a","data":[]}]', '402 Data is not a valid JSON Object'],
    ['a bad priority', '[{"name":"a"},{"name":"b","jobPriority":1}]', '402 Invalid priority value'],
    ['a bad repeat', '[{"name":"a"},{"name":"b","repeat":"x"}]', '402 Malformed repeat'],
    ['an unknown parent', '[{"name":"a"},{"name":"b","parentJobID":9}]', '404 parentJobID does not exist'],
  ])('refuses %s, and stores nothing', async ([, text, status], { world }) => {
    expect(await world.status('CreateJobs', { jobs: text })).toBe(status);
    expect((await world.jobs.count()).length).toBe(0);
  });

  test('accepts fields as strings, numbers and literals', async ({ world }) => {
    const first = '{"name":123,"data":"{\\"a\\":1}","jobPriority":"750","unique":true}';
    await world.json('CreateJobs', { jobs: `[${first},{"name":"b","data":{"n":12345678901234567890}}]` });
    expect(await world.query(1)).toMatchObject({ name: '123', data: { a: 1 }, priority: 750 });
    expect((await world.ask('QueryJob', { jobID: 2 })).body).toContain('"data":{"n":12345678901234567890}');
  });

  test('gives two identical unique jobs one id and merges their fields', async ({ world }) => {
    const { jobIDs } = await world.json<{ jobIDs: number[] }>('CreateJobs', jobs(
      { name: 'u', unique: true, data: { a: 1 } }, { name: 'u', unique: 'true', data: { b: 2 } }, {
        name: 'u', unique: true, data: { a: 1, b: 2 },
      },
    ));
    expect(new Set(jobIDs).size).toBe(1);
    expect((await world.query(jobIDs[0]!)).data).toEqual({ a: 1, b: 2 });
  });

  test('accepts a thousand jobs at once', async ({ world }) => {
    const { jobIDs } = await world.json<{ jobIDs: number[] }>(
      'CreateJobs', { jobs: Array.from({ length: 1000 }, () => ({ name: 'many' })) },
    );
    expect(new Set(jobIDs).size).toBe(1000);
  });
});

describe('children', () => {
  test('wait while their parent is RUNNING and are QUEUED at once when it is PAUSED', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const first = await world.create({ name: 'c1', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    const second_ = await world.create({ name: 'c2', parentJobID: parent });
    expect([await world.state(first), await world.state(second_), await world.state(parent)]).toEqual(
      ['QUEUED', 'QUEUED', 'PAUSED'],
    );
  });

  test('that are unique are distinct per parent', async ({ world }) => {
    const [one, two] = [await world.running({ name: 'p1' }), await world.running({ name: 'p2' })];
    const child = await world.create({ name: 'c', parentJobID: one, unique: 'true' });
    expect(await world.create({ name: 'c', parentJobID: one, unique: 'true' })).toBe(child);
    const tied = '404 Trying to create a child that already exists, but it is tied to a different parent';
    expect(await world.status('CreateJob', { name: 'c', parentJobID: two, unique: 'true' })).toBe(tied);
    expect(await world.status('CreateJob', { name: 'c', unique: 'true' })).toBe(tied);
  });

  test('cannot have children; that is checked after the repeat and before anything is stored', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    expect(await world.status('CreateJob', { name: 'g', parentJobID: child })).toBe('405 Cannot create grandchildren');
    expect(await world.status('CreateJob', { name: 'g', parentJobID: child, repeat: 'x' })).toBe(
      '402 Malformed repeat',
    );
  });

  test('cannot be created for a run of an engine', async ({ world }) => {
    const { job } = await world.jobs.create({ type: 'run' }, 'someone');
    await world.jobs.claim({ kinds: ['run'], names: { exact: ['run'] }, holder: 'w', leaseMs: 1000, limit: 1 });
    expect(await world.status('CreateJob', { name: 'c', parentJobID: job!.id })).toBe('404 parentJobID does not exist');
    for (const verb of ['QueryJob', 'FinishJob', 'FailJob', 'DeleteJob', 'CancelJob']) {
      expect(await world.status(verb, { jobID: job!.id })).toBe('404 No job with this jobID');
    }
    expect(await world.status('RequeueJobs', { jobIDs: job!.id })).toBe('200 OK');
    expect(await world.state(job!.id)).toBe('gone');
  });

  for (const { name, test: testOn } of both) {
    testOn(`can be added to their parent by many clients at once, on ${name}`, async ({ world }) => {
      const parent = await world.running({ name: 'p' });
      const clients = await Promise.all(Array.from({ length: 6 }, () => world.connect()));
      const answers = await Promise.all(
        clients.map((client) => client.ask('CreateJob', { name: 'c', parentJobID: parent })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill('200 OK'));
      await world.json('FinishJob', { jobID: parent });
      expect((await world.json<{ jobs: unknown[] }>('GetJobs', { name: 'c', numResults: 9 })).jobs).toHaveLength(6);
    });
  }
});

describe('mocks', () => {
  test('are marked in their data and do not repeat', async ({ world }) => {
    const plain = await world.create({ name: 'm', mockRequest: 'false', repeat: 'DAILY' });
    const told = await world.create({ name: 'm', mockRequest: '', data: { a: 1 } });
    expect(await world.query(plain)).toMatchObject({ data: { mockRequest: true }, repeat: '' });
    expect((await world.query(told)).data).toEqual({ a: 1, mockRequest: true });
  });

  test('are handed out only on request, together with real jobs', async ({ world }) => {
    await world.create({ name: 'm', mockRequest: '1' });
    expect(await world.status('GetJob', { name: 'm' })).toBe('404 No job found');
    await world.create({ name: 'm', data: { real: true } });
    const both_ = await world.json<{ jobs: { data: object }[] }>(
      'GetJobs', { name: 'm', numResults: 5, getMockedJobs: 'false' },
    );
    expect(both_.jobs.map(({ data }) => data)).toEqual([{ mockRequest: true }, { real: true }]);
  });

  test('are unique among themselves', async ({ world }) => {
    const mock = await world.create({ name: 'u', unique: 'true', mockRequest: '1' });
    const real = await world.create({ name: 'u', unique: 'true' });
    expect(real).not.toBe(mock);
    expect(await world.create({ name: 'u', unique: 'true', mockRequest: '1' })).toBe(mock);
    expect(await world.create({ name: 'u', unique: 'true' })).toBe(real);
  });

  test('are also created by data with the mark', async ({ world }) => {
    await world.create({ name: 'm', data: { mockRequest: true } });
    expect(await world.status('GetJob', { name: 'm' })).toBe('404 No job found');
    expect((await world.get('m', { mockRequest: 1 })).data).toEqual({ mockRequest: true });
  });

  test('that only their data marks keep their repeat rule, as in Bedrock', async ({ world }) => {
    const id = await world.create({ name: 'm', data: { mockRequest: true }, repeat: 'DAILY' });
    expect(await world.query(id)).toMatchObject({ repeat: 'DAILY' });
  });

  test('have mocks as children, and real jobs have real ones, whatever the request says', async ({ world }) => {
    const mock = await world.running({ name: 'pm', mockRequest: '1' });
    const real = await world.running({ name: 'pr' });
    const ofMock = await world.create({ name: 'c', parentJobID: mock });
    const ofReal = await world.create({ name: 'c', parentJobID: real, mockRequest: '1', repeat: 'DAILY' });
    expect((await world.query(ofMock)).data).toEqual({ mockRequest: true });
    expect(await world.query(ofReal)).toMatchObject({ data: {}, repeat: 'DAILY' });
  });

  test('are marked for a whole CreateJobs request', async ({ world }) => {
    const mock = await world.running({ name: 'pm', mockRequest: '1' });
    const real = await world.running({ name: 'pr' });
    const dataOf = async (list: unknown[], fields: Fields = {}) => {
      const { jobIDs } = await world.json<{ jobIDs: number[] }>('CreateJobs', { jobs: list, ...fields });
      return Promise.all(jobIDs.map(async (id) => (await world.query(id)).data));
    };
    const marked = { mockRequest: true };
    expect(await dataOf([{ name: 'a' }, { name: 'b', parentJobID: mock }])).toEqual([marked, marked]);
    expect(await dataOf([{ name: 'a', parentJobID: real }, { name: 'b' }], { mockRequest: '1' })).toEqual([{}, {}]);
    const both_ = [{ name: 'a', parentJobID: mock }, { name: 'b', parentJobID: real }];
    expect(await world.status('CreateJobs', { jobs: both_ })).toBe(
      '405 Parent and child jobs must have matching mockRequest setting',
    );
  });
});

test('times are UTC, and a job is handed out when it is due and not before', async ({ world }) => {
  await world.create({ name: 'later', firstRun: at(hour) });
  await world.advance(hour - second);
  expect(await world.status('GetJob', { name: 'later' })).toBe('404 No job found');
  await world.advance(second);
  expect((await world.get('later'))['nextRun']).toBe(at(hour));
});
