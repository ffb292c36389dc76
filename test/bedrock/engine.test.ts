// Bedrock jobs and runs of an engine in one database.
import { expect } from 'vitest';
import { jobType } from '../../src/engine/declare/job-type.ts';
import { Engine } from '../../src/open.ts';
import { both, minute } from './world.ts';

for (const { name, test } of both) {
  test(`Bedrock jobs and runs share a store, and the engine repairs both, on ${name}`, async ({ world }) => {
    const hello = jobType('hello', { run: async () => 'done' });
    const engine = new Engine({ store: await world.again(), clock: world.clock, types: [hello] });
    await engine.resume();
    const server = await world.serve({}, engine.jobs);
    try {
      const queued = await world.running({ name: 'hello', retryAfter: '+1 MINUTE' });
      const run = await engine.createJobRun(hello);
      expect(await world.passing(run.result())).toBe('done');
      expect(await world.state(run.id)).toBe('gone');
      expect(await world.state(queued)).toBe('RUNQUEUED');

      await world.advance(minute);
      await world.until(async () => {
        await world.advance(1000);
        return (await world.events(queued)).includes('lapsed');
      });
      await world.json('FinishJob', { jobID: queued });
      const found = await engine.find({ kinds: ['run', 'bedrock'], standings: ['succeeded'] });
      expect(found.jobs.map(({ kind, type }) => `${kind} ${type}`).toSorted()).toEqual(['bedrock hello', 'run hello']);
    } finally {
      await world.client.close();
      await server.close();
      await world.passing(engine.close());
    }
  });
}
