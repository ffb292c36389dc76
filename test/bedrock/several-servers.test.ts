// Two servers on one database: what one has handed out, the other hands out again once its lease has lapsed.
import { describe, expect } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { both, second } from './world.ts';

for (const { name, test } of both) {
  describe(`two servers on ${name}`, () => {
    test('a job whose lease lapses is handed out at once by the server that did not grant the lease', async ({ world }) => {
      const first = world.client;
      const id = await world.create({ name: 'x', retryAfter: '+1 SECONDS' });
      await world.serve({}, new Jobs(await world.again()));
      expect((await first.ask('GetJob', { name: 'x' })).status).toBe('200 OK');
      await world.advance(900);
      // The second server checks for lapsed leases now, and would check again only after 250 ms.
      expect(await world.status('GetJob', { name: 'x' })).toBe('404 No job found');
      await world.advance(second - 900);
      expect((await world.get('x')).jobID).toBe(id);
    });

    test('jobs whose leases lapse together are handed out to all who ask the other server then', async ({ world }) => {
      const jobs = Array.from({ length: 10 }, (_, n) => ({ name: `x/${n}`, retryAfter: '+1 SECONDS' }));
      await world.json('CreateJobs', { jobs });
      await world.json('GetJobs', { name: 'x/*', numResults: 10 });
      await world.serve({}, new Jobs(await world.again()));
      const clients = await Promise.all(jobs.map(() => world.connect()));
      await world.advance(900);
      expect(await world.status('GetJob', { name: 'x/*' })).toBe('404 No job found');
      await world.advance(second - 900);
      const answers = await Promise.all(clients.map((client) => client.ask('GetJob', { name: 'x/*' })));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill('200 OK'));
    });
  });
}
