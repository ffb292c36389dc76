/** The Stint engine with a type that handles its jobs in batches of 100. */
import type { Input } from '../../payload.ts';
import { loadStint } from '../stint-package.ts';
import { queueName, type Handle, type Peer, type Queue } from '../peer.ts';

const batch = { size: 100 };

export const stintBatches: Peer = {
  name: 'Stint batches on PostgreSQL',
  database: 'postgres',
  package: 'ours',
  settings: JSON.stringify({ batch }),
  pace: 'fast',
  isBatched: true,
  open,
};

async function open(store: string): Promise<Queue> {
  const { Engine, jobType, typed } = await loadStint();
  const { unfinishedIn } = await import('../../unfinished.ts');
  let handle: Handle = () => {};
  const mail = jobType(queueName, {
    input: typed<Input>(),
    batch,
    runBatch: ({ jobs }) => jobs.map((job) => job.done(handle(job.input))),
  });
  const engine = new Engine({ store, types: [mail] });
  await engine.ready();
  return {
    create: async (inputs) => void (await engine.createJobRuns(mail, inputs.map((input) => ({ input })))),
    work: async (start) => {
      handle = start;
      await engine.resume();
    },
    unfinished: () => unfinishedIn(engine.jobs.store),
    close: () => engine.close(),
  };
}
