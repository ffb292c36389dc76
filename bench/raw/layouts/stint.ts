/** Stint itself as a layout: `Jobs` on its store. */
import { Jobs } from '../../../src/jobs.ts';
import type { RunningJob } from '../../../src/model/job.ts';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import { holder, type, type HeldJob, type Layout } from './layout.ts';

interface HeldRun extends HeldJob {
  readonly job: RunningJob;
}

export function stint(): Layout {
  let jobs: Jobs;
  return {
    name: 'stint',
    schema: [],

    async open(url) {
      const store = new PostgresStore(url);
      await store.migrate();
      jobs = new Jobs(store);
      return () => store.close();
    },

    async create(_client, _first, inputs) {
      await jobs.createMany(inputs.map((input) => ({ type, input: JSON.parse(input) as unknown })), holder);
    },

    async claim(_client, limit) {
      const names = { exact: [type] };
      const claimed = await jobs.claim({ kinds: ['run'], names, limit, holder, leaseMs: 60_000 });
      return claimed.map((job): HeldRun => ({ id: job.id, claim: 0, job }));
    },

    async end(_client, held) {
      const commands = (held as readonly HeldRun[]).map(({ job }) =>
        ({ job, command: { do: 'succeed', fence: job.fence } as const }));
      const answers = await jobs.conclude(commands, { by: holder });
      const refused = answers.find((answer) => answer instanceof Error);
      if (refused) throw refused;
    },
  };
}
