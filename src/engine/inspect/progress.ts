/** Reads the progress of a job: the stored one, or what follows from its stored steps. */
import { isEncodedPayload } from '../../model/encoded-payload.ts';
import type { Job } from '../../model/job.ts';
import { parseJson } from '../../model/json.ts';
import type { Progress } from '../../model/progress.ts';
import { shownProgress } from '../../model/step-progress.ts';
import { beforeSteps, type StoredStep } from '../../model/step.ts';
import type { Store } from '../../store/store.ts';

const pageSize = 1000;

/** Returns null if the job has no progress, or this process cannot decode it. */
export async function readProgress(store: Store, job: Job): Promise<Progress | null> {
  const text = await store.progress(job.id);
  if (text !== null && isEncodedPayload(text)) return null;
  const stored = text === null ? null : (parseJson(text) as unknown as Progress);
  const isLatest = stored !== null && (stored.fence === undefined || stored.fence >= job.fence);
  if (job.fence === 0 || isLatest) return stored;
  return shownProgress(job, stored, await allSteps(store, job.id), store.now());
}

async function allSteps(store: Store, id: number): Promise<readonly StoredStep[]> {
  const found: StoredStep[] = [];
  for (;;) {
    const page = await store.steps([id], found.at(-1)?.n ?? beforeSteps, pageSize);
    found.push(...page);
    if (page.length < pageSize) return found;
  }
}
