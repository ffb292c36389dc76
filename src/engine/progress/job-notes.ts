/** The unwritten notes of one job: its latest progress, its log lines up to a limit, and its output. */
import type { Progress } from '../../model/progress.ts';
import type { Holding, NewLogLine, Note } from '../../store/store.ts';
import { OutputBuffer } from './output-buffer.ts';
import { progressText } from './progress-text.ts';

/** The limits of the log of one attempt. If the log exceeds them, lines from its middle are dropped. */
export const logLinesMax = 10_000;
export const logBytesMax = 4_194_304;

/**
 * The part of the limits that is reserved for the last lines of the log. When the part for the first lines is full,
 * only the last lines are buffered, and one line reports how many lines before them were dropped.
 */
const endLinesMax = 100;
const endBytesMax = 131_072;
const beginLinesMax = logLinesMax - endLinesMax - 1;
const beginBytesMax = logBytesMax - endBytesMax - 1_024;

/** How many more bytes of lines may be buffered, across all jobs of an instance. */
export interface BufferRoom {
  bytes: number;
}

export interface NoteDraft {
  readonly job: JobNotes;
  readonly note: Note;
  readonly bytes: number;
  /** Call after the write: removes the written notes, and leaves notes that were added meanwhile. */
  readonly written: () => void;
}

interface BufferedLine {
  readonly line: NewLogLine;
  readonly bytes: number;
}

export class JobNotes {
  readonly holding: Holding;
  /**
   * Whether the last write with notes of this job failed. These notes may be the cause, so they are written without
   * notes of other jobs.
   */
  isSuspect = false;
  readonly #room: BufferRoom;
  readonly output = new OutputBuffer();
  #progress: Progress | null = null;
  /** Whether `#progress` follows from what is stored elsewhere. */
  #isImplied = false;
  #hasStoredProgress = false;
  #lines: BufferedLine[] = [];
  #linesTotal = 0;
  #bytesTotal = 0;
  /** The newest lines, while the limits leave no room for them in `#lines`: at most `endLinesMax` and `endBytesMax`. */
  #end: BufferedLine[] = [];
  #dropped = 0;
  #droppedAt = 0;

  constructor(holding: Holding, room: BufferRoom) {
    this.holding = holding;
    this.#room = room;
  }

  get isDirty(): boolean {
    return this.#newProgress !== null || this.#lines.length > 0 || !this.output.isEmpty;
  }

  /** `isImplied`: the progress follows from what is stored elsewhere. It is written only to replace progress that does not. */
  setProgress(progress: Progress, isImplied: boolean): void {
    this.#progress = progress;
    this.#isImplied = isImplied;
  }

  get #newProgress(): Progress | null {
    return this.#isImplied && !this.#hasStoredProgress ? null : this.#progress;
  }

  log(line: NewLogLine): void {
    this.#end.push({ line, bytes: Buffer.byteLength(line.text) });
    if (this.#hasRoomForEnd()) this.#appendEnd();
    else this.#shortenEnd();
  }

  /** Call after the last line: appends the lines of `#end`, for which room is reserved. */
  end(): void {
    this.#appendEnd();
  }

  draft(): NoteDraft {
    const { id, fence } = this.holding;
    const [progress, lines] = [this.#newProgress, this.#lines.slice()];
    const text = progress === null ? undefined : progressText({ ...progress, fence });
    const log = lines.map(({ line }) => line);
    const [outputBytes, output] = [this.output.bytes, this.output.segments()];
    return {
      job: this,
      note: {
        id, fence,
        ...(text === undefined ? {} : { progress: text }),
        ...(log.length === 0 ? {} : { log }),
        ...(output.length === 0 ? {} : { output }),
      },
      bytes: (text?.length ?? 0) + bytesOf(lines) + outputBytes,
      written: () => {
        if (progress !== null) this.#hasStoredProgress = true;
        if (this.#progress === progress) this.#progress = null;
        this.#forget(lines.length);
        this.output.forget(output.length);
      },
    };
  }

  drop(): void {
    this.#progress = null;
    this.#forget(this.#lines.length);
    this.output.drop();
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
