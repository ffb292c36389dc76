// Many clients at once on jobs whose lease lapses at once: each request finds one.
import { describe, expect } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { both, second } from './world.ts';

const clientCount = 16;
const requestCount = 12;

for (const { name, test } of both) {
  describe(`jobs with retryAfter +1 SECONDS, on ${name}`, () => {
    test.for(['that granted', 'that did not grant'])(
      `are never missed by ${clientCount} clients of the server %s their leases`,
      async (which, { world }) => {
        const jobs = Array.from({ length: clientCount }, (_, n) => ({ name: `x/${n}`, retryAfter: '+1 SECONDS' }));
        await world.json('CreateJobs', { jobs });
        await world.json('GetJobs', { name: 'x/*', numResults: clientCount });
        if (which === 'that did not grant') await world.serve({}, new Jobs(await world.again()));
        const clients = await Promise.all(jobs.map(() => world.connect()));
        await world.advance(900);
        // The server checks for lapsed leases now, and would check again only after 250 ms.
        expect(await world.status('GetJob', { name: 'x/*' })).toBe('404 No job found');
        await world.advance(second - 900);
        const answers = await Promise.all(clients.map((client) => client.ask('GetJob', { name: 'x/*' })));
        expect(answers.map(({ status }) => status)).toEqual(Array(clientCount).fill('200 OK'));
      },
    );
  });

  describe(`jobs with retryAfter +0 SECONDS, on ${name}`, () => {
    test.for([16, 2])(`are never missed by ${clientCount} clients, of %i jobs`, async (jobCount, { world }) => {
      // A job with such a name is handed out any number of times.
      const jobs = Array.from({ length: jobCount }, (_, n) => ({ name: `manual/${n}`, retryAfter: '+0 SECONDS' }));
      await world.json('CreateJobs', { jobs });
      const clients = await Promise.all(Array.from({ length: clientCount }, () => world.connect()));
      const statuses = await Promise.all(clients.map(async (client) => {
        const found: string[] = [];
        for (let n = 0; n < requestCount; n++) found.push((await client.ask('GetJob', { name: 'manual/*' })).status);
        return found;
      }));
      expect(statuses.flat().filter((status) => status !== '200 OK')).toEqual([]);
    });

    test('keep nobody from an answer who asks for other jobs', async ({ world }) => {
      await world.create({ name: 'manual', retryAfter: '+0 SECONDS' });
      const others = await Promise.all(Array.from({ length: 4 }, () => world.connect()));
      const storm = Promise.all(others.map(async (client) => {
        for (let n = 0; n < 10; n++) await client.ask('GetJob', { name: 'manual' });
      }));
      expect(await world.status('GetJob', { name: 'nothing' })).toBe('404 No job found');
      await storm;
    });
  });
}
