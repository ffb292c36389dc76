/** The Stint engine with default settings. */
import type { DatabaseName } from '../../target.ts';
import type { Input } from '../../payload.ts';
import { Application } from '../application.ts';
import { loadStint } from '../stint-package.ts';
import { queueName, type Peer, type Handle, type Queue } from '../peer.ts';

export const stintEngineOn = (database: DatabaseName): Peer => ({
  name: `Stint engine on ${database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`,
  database,
  package: 'ours',
  settings: 'defaults',
  pace: 'fast',
  joinsTransactions: database === 'postgres',
  hasSteps: database === 'postgres',
  flows: {},
  open: (location) => open(database === 'sqlite' ? `sqlite:${location}` : location),
});

async function open(url: string): Promise<Queue> {
  const { Engine, jobType, typed } = await loadStint();
  const { input } = await import('../../payload.ts');
  const { unfinishedIn } = await import('../../unfinished.ts');
  let handle: Handle = () => {};
  const mail = jobType(queueName, { input: typed<Input>(), run: (context) => handle(context.input) });
  const campaign = jobType('campaign', {
    input: typed<{ readonly tasks: number }>(),
    taskDetails: function* (context) {
      for (let made = 0; made < context.input.tasks; made += 1) yield input();
    },
    taskResults: ({ task }) => handle(task),
  });
  const stepped = jobType('stepped', {
    input: typed<{ readonly steps: number }>(),
    run: async (context) => {
      for (let done = 0; done < context.input.steps; done += 1) await context.step(`step ${done}`, () => input());
    },
  });
  const engine = new Engine({ store: url, types: [mail, campaign, stepped] });
  await engine.ready();
  const application = new Application(url);
  return {
    order: (each) =>
      application.order((transaction) => engine.in(transaction).createJobRun(mail, { input: each })),
    create: async (inputs) => {
      if (inputs.length === 1) await engine.createJobRun(mail, { input: inputs[0]! });
      else await engine.createJobRuns(mail, inputs.map((each) => ({ input: each })));
    },
    work: async (start) => {
      handle = start;
      await engine.resume();
    },
    unfinished: () => unfinishedIn(engine.jobs.store),
    fanOut: async (tasks) => {
      await (await engine.createJobRun(campaign, { input: { tasks } })).result();
    },
    steps: async (count, steps) => {
      const runs = await engine.createJobRuns(stepped, Array.from({ length: count }, () => ({ input: { steps } })));
      await Promise.all(runs.map((run) => run.result()));
    },
    createFlow: async (runs) => {
      await engine.createFlow((f) => {
        const made: ReturnType<typeof f.run>[] = [];
        for (const { input: each, after } of runs) {
          made.push(f.run(mail, { input: each, ...(after.length === 0 ? {} : { after: after.map((before) => made[before]!) }) }));
        }
      });
    },
    close: async () => {
      await engine.close();
      await application.close();
    },
  };
}
