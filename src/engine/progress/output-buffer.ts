/** The output buffer: the unwritten chunks of one attempt, sealed into segments. */
import { segmentText, type NewChunk, type NewOutputSegment } from '../../model/output.ts';

/** Counted for each chunk besides its text: without it, a million chunks of one byte would count as one MiB. */
const chunkOverhead = 128;
/** A segment that has reached this size gets no further chunk. */
const segmentBytes = 65_536;
/** When chunks of this size are unwritten, they are written at once. */
export const flushBytes = 262_144;
/** While more than this is unwritten, the handler waits. */
const unwrittenBytesMax = 1_048_576;

interface SealedSegment {
  readonly segment: NewOutputSegment;
  readonly bytes: number;
}

export class OutputBuffer {
  /** The chunks of the last segment, which may get more. */
  #open: NewChunk[] = [];
  #openBytes = 0;
  #sealed: SealedSegment[] = [];
  #sealedBytes = 0;
  /** The number of the last chunk of the sealed segments. */
  #upto = 0;
  /** The number of the last chunk that is stored, or was dropped. */
  #stored = 0;
  #waiting: (() => void)[] = [];

  get isEmpty(): boolean {
    return this.#sealed.length === 0 && this.#open.length === 0;
  }

  get bytes(): number {
    return this.#sealedBytes + this.#openBytes;
  }

  /** The number of the last chunk. */
  get added(): number {
    return this.#upto + this.#open.length;
  }

  isStored(n: number): boolean {
    return this.#stored >= n;
  }

  add(chunk: NewChunk): void {
    if (this.#openBytes >= segmentBytes) this.#seal();
    this.#open.push(chunk);
    this.#openBytes += chunk.bytes + chunkOverhead;
  }

  /** Resolves when the unwritten chunks leave room for more. */
  async room(): Promise<void> {
    while (this.bytes > unwrittenBytesMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Returns all unwritten chunks. A segment that was returned before is returned again, unchanged. */
  segments(): readonly NewOutputSegment[] {
    this.#seal();
    return this.#sealed.map(({ segment }) => segment);
  }

  /** Removes the first segments, which are stored. */
  forget(count: number): void {
    for (const { segment, bytes } of this.#sealed.splice(0, count)) {
      this.#sealedBytes -= bytes;
      this.#stored = segment.upto;
    }
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  drop(): void {
    this.forget(this.segments().length);
  }

  #seal(): void {
    const last = this.#open.at(-1);
    if (last === undefined) return;
    this.#upto += this.#open.length;
    const segment = { upto: this.#upto, bytes: last.total, text: segmentText(this.#open) };
    this.#sealed.push({ segment, bytes: this.#openBytes });
    this.#sealedBytes += this.#openBytes;
    this.#open = [];
    this.#openBytes = 0;
  }
}
