// Data is stored as it is sent: any key, any number and any depth that SQLite's JSON functions read.
import { describe, expect } from 'vitest';
import { both } from './world.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

const texts: readonly (readonly [string, string])[] = [
  ['the key __proto__', '{"__proto__":{"polluted":1},"a":{"__proto__":2}}'],
  ['the key constructor', '{"constructor":{"prototype":{"polluted":1}}}'],
  ['a number beyond a double', '{"big":1e400,"small":1e-400,"long":123456789012345678901234567890}'],
  ['a number that no database computes with', '{"big":1e999999}'],
  ['65 levels', nested(65)],
  ['1,000 levels', nested(1000)],
  ['a NUL as an escape', '{"a":"\\u0000"}'],
];

for (const { name, test } of both) {
  describe(`data on ${name}`, () => {
    test.for(texts)('with %s comes back as it was sent', async ([, data], { world }) => {
      const body = async (verb: string, fields: Record<string, string | number>): Promise<string> =>
        (await world.ask(verb, fields)).body;
      const id = await world.create({ name: 'x', data });
      expect(await body('QueryJob', { jobID: id })).toContain(`"data":${data},`);
      expect(await body('GetJob', { name: 'x' })).toContain(`"data":${data},`);
      await world.json('UpdateJob', { jobID: id, data: '{}' });
      await world.json('UpdateJob', { jobID: id, data });
      await world.json('RetryJob', { jobID: id, data });
      await world.get('x');
      await world.json('FailJob', { jobID: id, data });
      expect(await body('QueryJob', { jobID: id })).toContain(`"data":${data},`);

      const jobs = `[{"name":"y","retryAfter":"+1 HOUR","data":${data}}]`;
      const [other] = (await world.json<{ jobIDs: number[] }>('CreateJobs', { jobs })).jobIDs;
      await world.get('y');
      expect(await body('QueryJob', { jobID: other! })).toContain(`${data.slice(0, -1)},"retryAfterCount":1},`);
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    });

    test('is merged with all its keys, and marks a mock, without touching a prototype', async ({ world }) => {
      const id = await world.create({ name: 'u', unique: 'true', data: '{"__proto__":{"x":1,"y":2},"n":1e400}' });
      const again = await world.create({ name: 'u', unique: 'true', data: '{"__proto__":{"x":null},"constructor":3}' });
      expect(again).toBe(id);
      const { body } = await world.ask('QueryJob', { jobID: id });
      expect(body).toContain('"data":{"__proto__":{"y":2},"n":1e400,"constructor":3},');
      const mock = await world.create({ name: 'm', data: '{"__proto__":1}', mockRequest: 1 });
      expect((await world.ask('QueryJob', { jobID: mock })).body).toContain('{"__proto__":1,"mockRequest":true}');
    });

    test('deeper than 1,000 levels is refused, and so is more than 1 MiB', async ({ world }) => {
      const invalid = '402 Data is not a valid JSON Object';
      expect(await world.status('CreateJob', { name: 'x', data: nested(1001) })).toBe(invalid);
      expect(await world.status('CreateJobs', { jobs: `[{"name":"x","data":${nested(1001)}}]` })).toBe(invalid);
      const filled = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
      expect(await world.status('CreateJob', { name: 'x', data: filled(1_048_577) })).toBe('402 Malformed data');
      const id = await world.create({ name: 'x', data: filled(1_048_576) });
      expect(await world.status('UpdateJob', { jobID: id, data: filled(1_048_577) })).toBe('402 Malformed data');
      await world.json('UpdateJob', { jobID: id, data: filled(1_048_576) });
    });

    test('may be 1 MiB with every backslash doubled, in a request with 900 headers', async ({ world }) => {
      const data = `{"a":"${'\\n'.repeat(524_284)}"}`;
      expect(data).toHaveLength(1_048_576);
      const others = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x-${n}`, n]));
      const id = await world.create({ name: 'x', data, ...others });
      expect((await world.ask('QueryJob', { jobID: id })).body).toContain(data);
    });

    test('is in headers: a body is read to its end, also in chunks, and ignored', async ({ world }) => {
      world.client.send('CreateJob\r\nname: a\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nname: b\r\n0\r\n\r\n');
      world.client.send('CreateJob\nname: c\nContent-Length: 7\n\nname: dGetJobs\nname: *\nnumResults: 9\n\n');
      const [first, second, jobs] = await world.client.answers(3);
      expect([first!.status, second!.status]).toEqual(['200 OK', '200 OK']);
      expect((JSON.parse(jobs!.body) as { jobs: { name: string }[] }).jobs.map(({ name }) => name)).toEqual(['a', 'c']);
    });

    test('that no number type holds does not disturb a search by input', async ({ world }) => {
      const found = await world.create({ name: 'x', data: '{"n":7}' });
      await world.create({ name: 'x', data: '{"n":1e999999}' });
      await world.create({ name: 'x', data: '{"n":"\\u0000"}' });
      const { jobs } = await world.jobs.find({ kinds: ['bedrock'], input: { path: ['n'], equals: 7 } });
      expect(jobs.map(({ id }) => id)).toEqual([found]);
    });
  });
}
