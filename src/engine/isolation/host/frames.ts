/** Frames: values one after the other in a stream of bytes, each behind its length. */
import { deserialize, serialize } from 'node:v8';

const headBytes = 4;

export function frameOf(value: unknown): Buffer {
  const body = serialize(value);
  const frame = Buffer.allocUnsafe(headBytes + body.length);
  frame.writeUInt32LE(body.length);
  body.copy(frame, headBytes);
  return frame;
}

/** Puts frames together again, however the stream cut them. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** The values that are complete with this piece. */
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
