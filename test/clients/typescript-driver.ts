// Drives the client in TypeScript for the protocol suite: reads commands as JSON lines, writes answers and events.
import { createInterface } from 'node:readline';
import { Client, Fail, HttpWorker, ProblemError, RetryAfter, Snooze, type HttpJob } from '../../src/client.ts';

const client = new Client({
  url: process.env['STINT_URL']!,
  ...(process.env['STINT_TOKEN'] === undefined ? {} : { token: process.env['STINT_TOKEN'] }),
  timeoutMs: 60_000,
});
const opened = new Map<number, PromiseWithResolvers<'opened'>>();
let worker: HttpWorker;

const write = (line: object): void => console.log(JSON.stringify(line));

function openingOf(job: number): PromiseWithResolvers<'opened'> {
  const found = opened.get(job) ?? Promise.withResolvers<'opened'>();
  opened.set(job, found);
  return found;
}

/** Waits until the suite opens the job, or it is aborted. */
async function hold(job: HttpJob, ignoresAbort: boolean): Promise<'opened'> {
  const opening = openingOf(job.id);
  const aborted = new Promise<never>((_, reject) => {
    job.signal.addEventListener('abort', () => {
      const reason = job.signal.reason as Error;
      write({ event: 'aborted', job: job.id, reason: reason.name });
      if (!ignoresAbort) reject(reason);
    });
  });
  return Promise.race([opening.promise, aborted]);
}

async function handle(job: HttpJob): Promise<unknown> {
  write({ event: 'started', job: job.id, attempt: job.view.attempt, phase: job.view.phase });
  // oxlint-disable-next-line typescript/no-explicit-any -- the suite chooses the input
  const input = job.input as any;
  switch (input.do) {
    case 'return': return input.value;
    case 'hold': return hold(job, false);
    case 'ignore': return hold(job, true);
    case 'throw': throw new Error(input.message);
    case 'fail': throw Object.assign(new Fail(input.message, { data: input.data }), { code: input.code });
    case 'retryAfter': throw new RetryAfter(input.ms);
    case 'snooze': throw new Snooze(input.ms);
    case 'deep': return Array.from({ length: 500 }).reduce<unknown>((value) => [value], null);
    case 'report':
      await job.progress(
        { kind: 'startStage', description: 'parts', total: 2 }, { kind: 'startItem' }, { kind: 'completeItem' },
      );
      await job.log('half', 'warn');
      return null;
    case 'children':
      if (job.view.children.length === 0) return void (await job.createChildren(input.children));
      return job.view.children.map(({ key, fate, result }) => [key, fate, result]);
    default: throw new Error(`unknown act: ${input.do}`);
  }
}

async function work({ types, ...options }: { types: string[] }): Promise<void> {
  worker = new HttpWorker(client, { handlers: Object.fromEntries(types.map((type) => [type, handle])), ...options });
  void worker.run().then(() => null, problemOf).then((problem) => write({ event: 'stopped', problem }));
}

// oxlint-disable-next-line typescript/no-explicit-any -- the fields of each command are those that the suite sends
const commands: Record<string, (fields: any) => unknown> = {
  create: async ({ request, key }) => ({ id: (await client.createRun(request, { idempotencyKey: key })).id }),
  get: ({ id }) => client.run(id).get(),
  list: async ({ filter }) => (await Array.fromAsync(client.runs(filter))).map(({ id }) => id),
  cancel: ({ id, why }) => client.run(id).cancel(why),
  wait: ({ id, timeoutMs }) => client.run(id).result({ timeoutMs }),
  work,
  open: ({ job }) => openingOf(job).resolve('opened'),
  stop: () => void worker.stop().catch(() => {}),
};

const problemOf = (error: unknown): object =>
  error instanceof ProblemError
    ? { status: error.status, code: error.code, message: error.message }
    : { status: 0, code: (error as Error).name, message: (error as Error).message };

process.once('SIGTERM', () => void worker.stop().then(() => process.exit(0)));

for await (const line of createInterface({ input: process.stdin })) {
  const { n, do: command, ...fields } = JSON.parse(line) as { n: number; do: string };
  void (async () => commands[command]!(fields))().then(
    (value) => write({ n, value: value ?? null }),
    (error: unknown) => write({ n, problem: problemOf(error) }),
  );
}
process.exit(0);
