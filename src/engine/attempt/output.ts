/**
 * The output of an attempt: checks the chunks that its handler writes, finds the step that writes them, and passes them
 * to the notes, which store them under the fence of the attempt.
 */
import { jsonText } from '../../model/json.ts';
import { chunkBytesMax, outputBytesMax, type NewChunk } from '../../model/output.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { LeaseLost } from '../handler/errors.ts';
import type { JobOutput } from '../handler/output.ts';
import type { Notes } from '../progress/notes.ts';
import type { Attempt } from './attempt.ts';
import { scopeOf } from './call-scope.ts';

export interface OutputParts {
  readonly store: Pick<Store, 'now' | 'outputBytes'>;
  readonly notes: Pick<Notes, 'output'>;
  /** The `step` of the chunks that are written outside of steps. */
  readonly outside: string | null;
}

const chunkLimits = { bytes: chunkBytesMax, depth: 64 };

/** What the output needs is made at its first chunk: most handlers write none. */
export function outputOf(parts: OutputParts, attempt: Attempt): JobOutput {
  let output: AttemptOutput | null = null;
  return { write: async (chunk) => (output ??= new AttemptOutput(parts, attempt)).write(chunk) };
}

interface ChunkDraft extends Omit<NewChunk, 'total' | 'isFirst'> {
  /** Stands for the call of the handler or step that writes it. */
  readonly call: object;
}

class AttemptOutput {
  readonly #parts: OutputParts;
  readonly #attempt: Attempt;
  /** The calls of the handler and of steps of which a chunk was accepted. */
  readonly #begun = new WeakSet<object>();
  /** The size of the output of the job; null: it is not known yet what earlier attempts have written. */
  #total: number | null;
  /** The chunks that wait until the size is known. */
  #early: { readonly draft: ChunkDraft; readonly added: PromiseWithResolvers<void> }[] = [];

  constructor(parts: OutputParts, attempt: Attempt) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#total = attempt.holding.fence === 1 ? 0 : null;
  }

  async write(chunk: unknown): Promise<void> {
    const draft = this.#draftOf(jsonText(chunk, chunkLimits));
    if (this.#total !== null) return this.#add(draft);
    const added = Promise.withResolvers<void>();
    if (this.#early.push({ draft, added }) === 1) void this.#addEarly();
    return added.promise;
  }

  #draftOf(text: string): ChunkDraft {
    const { store, outside } = this.#parts;
    const scope = scopeOf(this.#attempt);
    return { at: store.now(), step: scope.step ?? outside, call: scope.call, text, bytes: Buffer.byteLength(text) };
  }

  /** Adds the chunks that were written before the size was known, in their order. */
  async #addEarly(): Promise<void> {
    try {
      this.#total = await this.#parts.store.outputBytes(this.#attempt.job.id);
      for (const { draft, added } of this.#early.splice(0)) added.resolve(this.#add(draft));
    } catch (error) {
      for (const { added } of this.#early.splice(0)) added.reject(error);
    }
  }

  async #add({ call, ...draft }: ChunkDraft): Promise<void> {
    const { job: { id }, holding, isLost } = this.#attempt;
    const total = this.#total! + draft.bytes;
    if (total > outputBytesMax) throw tooLarge(id);
    const room = this.#parts.notes.output(holding, { ...draft, isFirst: !this.#begun.has(call), total });
    if (room === null) throw isLost ? new LeaseLost(`job ${id} is no longer held under fence ${holding.fence}`) : tooLate(id);
    this.#total = total;
    this.#begun.add(call);
    await room;
  }
}

const tooLarge = (id: number): Refusal => {
  const message = `the output of job ${id} would be larger than ${outputBytesMax} bytes: write large data elsewhere, ` +
    'and its address to the output';
  return new Refusal('malformed.output', message, { id, max: outputBytesMax });
};

const tooLate = (id: number): Refusal =>
  new Refusal('wrong.state', `cannot write to the output of job ${id}: its attempt has ended, or calls complete()`, { id });
