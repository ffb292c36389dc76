/** The wire format between the engine and a child process: length-prefixed frames over pipes. */
import { deserialize, serialize } from 'node:v8';

/** The file descriptors of the pipes in the child. Node's IPC channel is not used: it queues messages without limit. */
export const pipes = { commands: 3, reports: 4, life: 5 } as const;

const headBytes = 4;

export function frameOf(value: unknown): Buffer {
  const body = serialize(value);
  const frame = Buffer.allocUnsafe(headBytes + body.length);
  frame.writeUInt32LE(body.length);
  body.copy(frame, headBytes);
  return frame;
}

/** Reassembles frames from the pieces of a stream. A piece can begin and end anywhere in a frame. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** Adds a piece, and returns the values whose frames are complete now. */
  push(piece: Buffer): unknown[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const values: unknown[] = [];
    for (let body = this.#take(); body !== null; body = this.#take()) values.push(deserialize(body));
    return values;
  }

  #take(): Buffer | null {
    if (this.#bytes < headBytes) return null;
    if (this.#pieces[0]!.length < headBytes) this.#join();
    const end = headBytes + this.#pieces[0]!.readUInt32LE();
    if (this.#bytes < end) return null;
    this.#join();
    const all = this.#pieces[0]!;
    this.#pieces = [all.subarray(end)];
    this.#bytes -= end;
    return all.subarray(headBytes, end);
  }

  #join(): void {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
  }
}
