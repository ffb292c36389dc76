// Cancel a handler that checks its signal, and stop one that does not.
import { Engine, RunCancelled, type RunHandle } from 'stint';
import { polite, stubborn } from './jobs.ts';

await using engine = new Engine({ store: 'sqlite:.stint/isolate.db', types: [polite, stubborn] });
await engine.resume();

async function untilRunning(run: RunHandle): Promise<void> {
  for await (const { job, progress } of run.watch()) {
    if (job.state === 'running' && (job.type === 'polite' || progress)) return;
  }
}

async function fateOf(run: RunHandle): Promise<string> {
  try {
    await run.result();
    return 'succeeded';
  } catch (error) {
    if (error instanceof RunCancelled) return error.message;
    throw error;
  }
}

const first = await engine.createJobRun(polite);
await untilRunning(first);
await first.cancel({ by: 'ada', why: 'changed my mind' });
console.log(await fateOf(first));

const second = await engine.createJobRun(stubborn);
await untilRunning(second);
const { how } = await second.stop({ by: 'ada', why: 'it spins' });
console.log(`${await fateOf(second)} (${how})`);
