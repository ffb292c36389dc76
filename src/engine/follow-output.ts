/** Follows the output of a job: reads it chunk by chunk until the job has ended. */
import type { Job } from '../model/job.ts';
import type { OutputChunk } from '../model/output.ts';
import type { JobWatch } from './attempt/job-watchers.ts';
import type { OutputRequest } from './inspect/output.ts';

type OutputOrJob = readonly OutputChunk[] | Job;

export interface OutputReads {
  outputOrJob(id: number, request?: OutputRequest): Promise<OutputOrJob>;
  /** Watches the job. Call before the first read of the job, so that no change between a read and a wait is missed. */
  watchChanges(id: number): JobWatch;
}

/** How often the output is read if no notification comes, because another process writes it. */
const pollMs = { running: 250, other: 1_000 };

/** Yields the chunks behind a position, then each new one, until the job has ended and all are returned. */
export async function* followOutput(
  reads: OutputReads,
  id: number,
  { after }: Pick<OutputRequest, 'after'> = {},
): AsyncGenerator<OutputChunk, void, undefined> {
  const changes = reads.watchChanges(id);
  try {
    for await (const page of outputPages((request) => reads.outputOrJob(id, request), after)) {
      if (!('state' in page)) yield* page;
      else if (page.state !== 'ended') await changes.changed(page.state === 'running' ? pollMs.running : pollMs.other);
    }
  } finally {
    changes.stop();
  }
}

/**
 * Yields the chunks behind a position, page by page, and the job whenever there is no chunk: wait then. The last item is
 * the ended job. When its end is stored, its output is: so what is read after its end was seen is all.
 */
export async function* outputPages(
  read: (request: OutputRequest) => Promise<OutputOrJob>,
  after: string | undefined,
): AsyncGenerator<OutputOrJob, void, undefined> {
  let [position, wasEnded] = [after, false];
  for (;;) {
    const page = await read(position === undefined ? {} : { after: position });
    if (!('state' in page)) {
      yield page;
      position = page.at(-1)!.position;
      continue;
    }
    const isEnded = page.state === 'ended';
    if (!isEnded || wasEnded) yield page;
    if (isEnded && wasEnded) return;
    wasEnded = isEnded;
  }
}
