/** Received bytes that are not parsed yet. A full buffer doubles, so that many small packets cause few copies. */

const nothing = Buffer.alloc(0);

export class ReceivedBytes {
  #buffer: Buffer = nothing;
  #start = 0;
  #end = 0;
  /** False: the buffer is the one that the socket delivered, and must not be written to. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  get view(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  first(count: number): Buffer {
    return this.#buffer.subarray(this.#start, this.#start + count);
  }

  add(bytes: Buffer): void {
    if (this.length === 0) {
      [this.#buffer, this.#start, this.#end, this.#isOwn] = [bytes, 0, bytes.length, false];
      return;
    }
    if (!this.#isOwn || this.#end + bytes.length > this.#buffer.length) this.#grow(bytes.length);
    bytes.copy(this.#buffer, this.#end);
    this.#end += bytes.length;
  }

  drop(count: number): number {
    const dropped = Math.min(count, this.length);
    this.#start += dropped;
    if (this.length === 0) [this.#buffer, this.#start, this.#end, this.#isOwn] = [nothing, 0, 0, false];
    return dropped;
  }

  #grow(more: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * (this.length + more));
    this.view.copy(grown);
    [this.#end, this.#start, this.#buffer, this.#isOwn] = [this.length, 0, grown, true];
  }
}
