/** Follows the output of a job: reads it chunk by chunk until the job has ended. */
import type { Job } from '../model/job.ts';
import type { OutputChunk } from '../model/output.ts';
import type { JobWatch } from './attempt/job-watchers.ts';
import type { OutputRequest } from './inspect/output.ts';

export interface OutputReads {
  get(id: number): Promise<Job>;
  output(id: number, request?: OutputRequest): Promise<readonly OutputChunk[]>;
  /** Watches the job. Call before the first read of the job, so that no change between a read and a wait is missed. */
  watchChanges(id: number): JobWatch;
}

/** How often the output is read if no notification comes, because another process writes it. */
const pollMs = { running: 250, other: 1_000 };

/**
 * Yields the chunks behind a position, then each new one, until the job has ended and all are returned. The job is read
 * before its output: when its end is stored, its output is.
 */
export async function* followOutput(
  reads: OutputReads,
  id: number,
  { after }: Pick<OutputRequest, 'after'> = {},
): AsyncGenerator<OutputChunk, void, undefined> {
  let position = after;
  const changes = reads.watchChanges(id);
  try {
    for (;;) {
      const { state } = await reads.get(id);
      const chunks = await reads.output(id, position === undefined ? {} : { after: position });
      yield* chunks;
      position = chunks.at(-1)?.position ?? position;
      if (chunks.length > 0) continue;
      if (state === 'ended') return;
      await changes.changed(state === 'running' ? pollMs.running : pollMs.other);
    }
  } finally {
    changes.stop();
  }
}
