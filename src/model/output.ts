/**
 * The output of a job: chunks that its handler writes while it runs. Chunks are stored in segments, and numbered within
 * each claim: the fence and the number are the position of a chunk, at which a reader can continue.
 *
 * A handler that is called again writes again, and so does the work of a step. The first chunk of each such call is
 * marked: it replaces what earlier calls wrote outside of steps, or in the step of this name. The work of a finished step
 * is not called again, so its chunks stay.
 */
import { Refusal } from '../refusal.ts';
import { encodedTextOf, isEncodedPayload, placeholderOf } from './encoded-payload.ts';
import { parseJson, type Json } from './json.ts';

/** The largest size of a chunk, as JSON in UTF-8. */
export const chunkBytesMax = 262_144;
/** The largest size of all chunks of a job, those of earlier attempts included. */
export const outputBytesMax = 67_108_864;

/** The place of a chunk. Later chunks have a higher fence, or the same fence and a higher number. */
export interface OutputPosition {
  readonly fence: number;
  readonly n: number;
}

export const outputStart: OutputPosition = { fence: 0, n: 0 };

export interface OutputChunk {
  /** Where the chunk is in the output: pass it as `after` to read on behind it. */
  readonly position: string;
  /** The fence of the claim under which it was written: it tells the chunks of two attempts apart. */
  readonly fence: number;
  /** When the chunk was written, to within the time between two writes to the store. */
  readonly at: number;
  /** The step that wrote the chunk; null: it was written outside of steps. */
  readonly step: string | null;
  /** Whether the chunk replaces all chunks before it that have the same `step`: its call of the handler or step began. */
  readonly isFirst: boolean;
  readonly value: Json;
}

/** A chunk before it is stored. */
export interface NewChunk extends Pick<OutputChunk, 'at' | 'step' | 'isFirst'> {
  /** JSON. */
  readonly text: string;
  readonly bytes: number;
  /** The size of all chunks of the job up to this one. */
  readonly total: number;
}

/** Consecutive chunks of one claim, as they are stored. */
export interface OutputSegment {
  readonly fence: number;
  /** The number of its last chunk. */
  readonly upto: number;
  /** The size of all chunks of the job up to this one. */
  readonly bytes: number;
  /** JSON text: a list of parts. */
  readonly text: string;
}

export type NewOutputSegment = Omit<OutputSegment, 'fence'>;

/** Consecutive chunks of one call of the handler or of a step. `at` and `isFirst` are those of its first chunk. */
interface SegmentPart extends Pick<OutputChunk, 'at' | 'step' | 'isFirst'> {
  readonly chunks: readonly Json[];
}

export function segmentText(chunks: readonly NewChunk[]): string {
  const parts: NewChunk[][] = [];
  for (const chunk of chunks) {
    const part = parts.at(-1);
    if (part === undefined || chunk.isFirst || part[0]!.step !== chunk.step) parts.push([chunk]);
    else part.push(chunk);
  }
  return `[${parts.map(partText).join(',')}]`;
}

function partText(chunks: readonly NewChunk[]): string {
  const { at, step, isFirst } = chunks[0]!;
  const texts = chunks.map(({ text }) => text).join(',');
  return `{"at":${at},"step":${JSON.stringify(step)},"isFirst":${isFirst},"chunks":[${texts}]}`;
}

/**
 * Returns the chunks of a segment that are behind a position. If this process cannot decode the segment, returns one
 * chunk with a placeholder for all of them.
 */
export function chunksOf({ fence, upto, text }: OutputSegment, after: OutputPosition): readonly OutputChunk[] {
  const all = partsOf(text).flatMap(({ at, step, isFirst, chunks }) =>
    chunks.map((value, index) => ({ at, step, isFirst: isFirst && index === 0, value })));
  const first = upto - all.length + 1;
  const known = fence === after.fence ? Math.max(0, after.n - first + 1) : 0;
  return all.slice(known).map((chunk, index) => (
    { position: positionText({ fence, n: first + known + index }), fence, ...chunk }));
}

function partsOf(text: string): readonly SegmentPart[] {
  if (isEncodedPayload(text)) {
    return [{ at: 0, step: null, isFirst: false, chunks: [{ ...placeholderOf(encodedTextOf(text)) }] }];
  }
  return parseJson(text) as unknown as readonly SegmentPart[];
}

export const positionText = ({ fence, n }: OutputPosition): string => `${fence}.${n}`;

export function parseOutputPosition(text: string): OutputPosition {
  const [, fence, n] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (n !== undefined) return { fence: Number(fence), n: Number(n) };
  throw new Refusal('malformed.cursor', `${JSON.stringify(text.slice(0, 40))} is no position of an output: it is like 1.17`);
}

/** Leaves out the chunks that later ones replace: what earlier attempts wrote and their successors wrote again. */
export function currentOutput<Chunk extends Pick<OutputChunk, 'step' | 'isFirst'>>(chunks: readonly Chunk[]): Chunk[] {
  const first = new Map<string | null, number>();
  chunks.forEach(({ step, isFirst }, index) => void (isFirst && first.set(step, index)));
  return chunks.filter(({ step }, index) => index >= (first.get(step) ?? 0));
}
