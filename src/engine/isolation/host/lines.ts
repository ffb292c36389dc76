/** Lines: what was printed, piece by piece, as whole lines. */

/** A line without an end is handed on after so many characters. */
const lineMax = 10_000;

export class Lines {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#hand(line);
    while (this.#rest.length > lineMax) {
      this.#hand(this.#rest.slice(0, lineMax));
      this.#rest = this.#rest.slice(lineMax);
    }
  }

  /** Hands on what is left without an end of line. */
  end(): void {
    this.#hand(this.#rest);
    this.#rest = '';
  }

  #hand(line: string): void {
    if (line !== '') this.#onLine(line);
  }
}
