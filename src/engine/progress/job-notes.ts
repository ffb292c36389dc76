/** The notes of one job that are still to be written: its newest progress, and its log with a bound on all of it. */
import type { Progress } from '../../model/progress.ts';
import type { Holding, LogLine, Note } from '../../store/store.ts';
import { progressText } from './progress-text.ts';

/** Of all that one try of a job logs. What is over them is dropped from the middle: beginning and end are kept. */
export const logLinesMax = 10_000;
export const logBytesMax = 4_194_304;

/** The end of a log that waits apart, once its beginning has used up the rest. One more line tells of the gap. */
const endLinesMax = 100;
const endBytesMax = 131_072;
const beginLinesMax = logLinesMax - endLinesMax - 1;
const beginBytesMax = logBytesMax - endBytesMax - 1_024;

/** How many bytes of lines may still wait to be written, over all jobs of an instance. */
export interface Room {
  bytes: number;
}

/** A note as it can be written now. */
export interface NoteDraft {
  readonly job: JobNotes;
  readonly note: Note;
  readonly bytes: number;
  /** To be called once it was written: only what came later is left. */
  readonly written: () => void;
}

interface BufferedLine {
  readonly line: Omit<LogLine, 'n'>;
  readonly bytes: number;
}

export class JobNotes {
  readonly holding: Holding;
  /** It was part of a write that failed: since the fault may be here, it is tried alone. */
  isSuspect = false;
  readonly #room: Room;
  #progress: Progress | null = null;
  #lines: BufferedLine[] = [];
  #linesTotal = 0;
  #bytesTotal = 0;
  /** The newest lines, as long as there is no room for them. */
  #end: BufferedLine[] = [];
  #dropped = 0;
  #droppedAt = 0;

  constructor(holding: Holding, room: Room) {
    this.holding = holding;
    this.#room = room;
  }

  get isDirty(): boolean {
    return this.#progress !== null || this.#lines.length > 0;
  }

  setProgress(progress: Progress): void {
    this.#progress = progress;
  }

  log(line: Omit<LogLine, 'n'>): void {
    this.#end.push({ line, bytes: Buffer.byteLength(line.text) });
    if (this.#hasRoomForEnd()) this.#appendEnd();
    else this.#shortenEnd();
  }

  /** No line comes any more: room for the last ones was spared. */
  end(): void {
    this.#appendEnd();
  }

  draft(): NoteDraft {
    const { id, fence } = this.holding;
    const [progress, lines] = [this.#progress, this.#lines.slice()];
    const text = progress === null ? undefined : progressText(progress);
    const log = lines.map(({ line }) => line);
    return {
      job: this,
      note: { id, fence, ...(text === undefined ? {} : { progress: text }), ...(log.length === 0 ? {} : { log }) },
      bytes: (text?.length ?? 0) + bytesOf(lines),
      written: () => {
        if (this.#progress === progress) this.#progress = null;
        this.#forget(lines.length);
      },
    };
  }

  drop(): void {
    this.#progress = null;
    this.#forget(this.#lines.length);
  }

  #hasRoomForEnd(): boolean {
    const bytes = bytesOf(this.#end);
    const isWithinLines = this.#linesTotal + this.#end.length < beginLinesMax;
    return isWithinLines && this.#bytesTotal + bytes < beginBytesMax && bytes <= this.#room.bytes;
  }

  #appendEnd(): void {
    if (this.#dropped > 0) this.#append(gapOf(this.#dropped, this.#droppedAt));
    for (const line of this.#end) this.#append(line);
    this.#end = [];
    this.#dropped = 0;
  }

  #shortenEnd(): void {
    while (this.#end.length > endLinesMax || bytesOf(this.#end) > endBytesMax) {
      this.#droppedAt = this.#end.shift()!.line.at;
      this.#dropped += 1;
    }
  }

  #append(line: BufferedLine): void {
    this.#lines.push(line);
    this.#linesTotal += 1;
    this.#bytesTotal += line.bytes;
    this.#room.bytes -= line.bytes;
  }

  #forget(count: number): void {
    this.#room.bytes += bytesOf(this.#lines.splice(0, count));
  }
}

const bytesOf = (lines: readonly BufferedLine[]): number => lines.reduce((sum, { bytes }) => sum + bytes, 0);

function gapOf(dropped: number, at: number): BufferedLine {
  const text = `(${dropped} lines were dropped here: the log was too large)`;
  return { line: { at, level: 'warn', text }, bytes: Buffer.byteLength(text) };
}
