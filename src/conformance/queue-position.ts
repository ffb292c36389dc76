/** The queue position: how many jobs of the same kind and type come before a job in the order of claims. */
import { deepEqual, equal } from 'node:assert/strict';
import { gateText } from '../model/gate.ts';
import type { JobSpec, Topic } from './world.ts';

export const ahead: Topic = {
  name: 'queue position',
  examples: {
    'jobs of higher priority, then earlier due time, then lower id are ahead': async (world) => {
      const due = world.now() - 100;
      const specs: JobSpec[] = [
        { due }, { due: due - 5 }, { due }, { priority: 3, due: due + 50 }, { priority: -3, due: due - 50 },
      ];
      const jobs = await world.createAll(specs);
      deepEqual(await Promise.all(jobs.map((job) => world.store.queuePosition(job))), [2, 1, 3, 0, 4]);
    },

    'only jobs of its kind and type that could be claimed now count': async (world) => {
      const due = world.now() - 100;
      await world.createAll([
        { type: 'other', due }, { kind: 'task', due }, { hold: 'pause', due }, { due: world.now() + 1000 },
      ]);
      await world.createRunning({ type: 'plain', due });
      const job = await world.create({});
      equal(await world.store.queuePosition(job), 0);
      await world.create({ due });
      equal(await world.store.queuePosition(job), 1);
    },

    'for a job that is due later, all jobs that are due now count': async (world) => {
      await world.createAll([{}, {}, { priority: -1 }]);
      equal(await world.store.queuePosition(await world.create({ due: world.now() + 60_000 })), 2);
    },

    'jobs that wait at a gate count, too': async (world) => {
      const gate = gateText({ leaderOnly: false, type: 'plain', def: null, key: null, typeMax: 1 });
      const [, , last] = await world.createAll([{ gate }, {}, { gate }]);
      equal(await world.store.queuePosition(last!), 2);
    },
  },
};
