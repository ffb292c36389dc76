/** Open streams: limits their number, in total and per client; ends the streams of callers that have lost access. */
import type { Clock } from '../../time/clock.ts';
import type { Principal } from '../access/principal.ts';
import { HttpRefusal } from '../problems.ts';

export interface StreamLimits {
  /** How many event streams of this server may be open. Default: 2000. */
  readonly max?: number;
  /** How many event streams callers with the same name may have open. Default: 500. */
  readonly perClient?: number;
}

interface StreamCall {
  readonly principal: Principal;
  isAllowed(): Promise<boolean>;
}

/** The interval between checks. A stream ends at the first check after its caller has lost access. */
const checkAccessMs = 2_000;
const maxDefault = 2_000;
const perClientDefault = 500;

export class OpenStreams {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #max: number;
  readonly #perClient: number;
  readonly #open = new Map<OpenStream, StreamCall>();
  readonly #clients = new Map<string, number>();
  #stopTimer: (() => void) | null = null;

  constructor(clock: Pick<Clock, 'after'>, { max = maxDefault, perClient = perClientDefault }: StreamLimits = {}) {
    this.#clock = clock;
    this.#max = max;
    this.#perClient = perClient;
  }

  get count(): number {
    return this.#open.size;
  }

  open(call: StreamCall): OpenStream {
    const { name } = call.principal;
    if (this.#open.size >= this.#max) throw tooMany('too many clients read event streams of this server');
    if (this.#ofClient(name) >= this.#perClient) {
      throw tooMany(`${name} reads ${this.#perClient} event streams already`);
    }
    const stream = new OpenStream(() => this.#remove(stream, name));
    this.#open.set(stream, call);
    this.#clients.set(name, this.#ofClient(name) + 1);
    this.#checkLater();
    return stream;
  }

  close(): void {
    for (const stream of this.#open.keys()) stream.end();
  }

  #remove(stream: OpenStream, name: string): void {
    this.#open.delete(stream);
    const left = this.#ofClient(name) - 1;
    if (left > 0) this.#clients.set(name, left);
    else this.#clients.delete(name);
    if (this.#open.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #ofClient(name: string): number {
    return this.#clients.get(name) ?? 0;
  }

  #checkLater(): void {
    this.#stopTimer ??= this.#clock.after(checkAccessMs, () => void this.#checkAccess());
  }

  async #checkAccess(): Promise<void> {
    await Promise.all([...this.#open].map(async ([stream, call]) => {
      if (!(await call.isAllowed())) stream.end();
    }));
    this.#stopTimer = null;
    if (this.#open.size > 0) this.#checkLater();
  }
}

export class OpenStream {
  readonly #leave = new AbortController();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Aborts when the stream ends: the client disconnected or lost access, the server closes, or everything was sent. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  end(): void {
    if (this.#leave.signal.aborted) return;
    this.#leave.abort();
    this.#onEnd();
  }
}

const tooMany = (why: string): HttpRefusal =>
  new HttpRefusal('too.many', `${why}; try again later`, { 'retry-after': '5' });
