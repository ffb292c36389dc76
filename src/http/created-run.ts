/** The answer to a request that creates a run: the run, whether it is new, and a warning if nothing can execute it. */
import type { EngineCore } from '../engine/engine.ts';
import type { RunHandle } from '../engine/run-handle.ts';
import type { Job } from '../model/job.ts';
import { isLive } from '../store/store.ts';
import type { Answer } from './contract.ts';
import type { Visibility } from './access/redact.ts';
import { runView } from './views.ts';

export async function createdRun(
  engine: EngineCore,
  handle: RunHandle,
  visibility: Visibility,
): Promise<Answer<'createRun'>> {
  const job = await handle.get().catch(() => null);
  return {
    run: job === null ? null : runView(job, visibility),
    id: handle.id,
    outcome: handle.outcome ?? 'existing',
    warning: job === null ? null : await warningOf(engine, job),
  };
}

/**
 * Returns a warning if no live instance or worker knows the type of the run; otherwise null. The run is accepted,
 * because a worker may start later.
 */
async function warningOf(engine: EngineCore, { type }: Job): Promise<string | null> {
  if (engine.types().some(({ name }) => name === type)) return null;
  const now = engine.now();
  const alive = (await engine.instances()).filter((each) => isLive(each, now));
  if (alive.some(({ about }) => about.types.includes(type))) return null;
  return `no live instance or worker knows the job type ${type}; the run waits for one`;
}
