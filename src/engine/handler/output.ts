/** The output of a job for its handler: chunks that readers get while the handler is still working. */
import { Refusal } from '../../refusal.ts';

export interface JobOutput {
  /**
   * Appends a chunk, such as a piece of text, a row or an event of an LLM: any JSON, at most 256 KiB. Chunks are stored
   * together four times a second, and before the end of the step or attempt that wrote them. Resolves when there is room
   * for more; await it. If the handler or step is called again, its first chunk replaces what its earlier calls wrote. If
   * this worker no longer holds the job, rejects with `LeaseLost`. Not for isolated handlers.
   */
  write(chunk: unknown): Promise<void>;
}

/** The output for a handler whose chunks cannot be stored. */
export const refusedOutput = (message: string): JobOutput =>
  ({ write: () => Promise.reject(new Refusal('malformed.option', message)) });
