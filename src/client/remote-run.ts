/** A handle for a run on a server: watches the run, waits for its result, cancels, stops and retries it. */
import type {
  Answer, EventView, LogLineView, OutputChunkView, ProgressView, RouteName, RunDetail, RunView, RequestArguments,
} from '../http/contract.ts';
import type { Clock } from '../time/clock.ts';
import type { ServerEvent } from './events.ts';
import { ProblemError } from './problem-error.ts';

/** An update in the stream of a run. */
export type RemoteRunUpdate =
  | { readonly event: 'run'; readonly data: RunView }
  | { readonly event: 'event'; readonly data: EventView }
  | { readonly event: 'progress'; readonly data: { readonly progress: ProgressView | null } }
  | { readonly event: 'log'; readonly data: { readonly lines: readonly LogLineView[] } }
  | { readonly event: 'end'; readonly data: { readonly standing: RunView['standing'] } };

/** The methods of the client that a run uses. */
export interface RunCaller {
  call<N extends RouteName>(name: N, request: RequestArguments<N>): Promise<Answer<N>>;
  events(
    name: 'streamRun' | 'streamOutput',
    request: { readonly params: { readonly id: number }; readonly query?: { readonly after?: string } },
    signal?: AbortSignal,
  ): AsyncGenerator<ServerEvent, void, undefined>;
}

export class RemoteRun {
  readonly id: number;
  readonly #caller: RunCaller;
  readonly #clock: Clock;

  constructor(caller: RunCaller, id: number, clock: Clock) {
    this.id = id;
    this.#caller = caller;
    this.#clock = clock;
  }

  get(): Promise<RunDetail> {
    return this.#caller.call('getRun', { params: { id: this.id } });
  }

  /** Waits for the result and returns it. Throws if the run fails, is cancelled, or does not end within `timeoutMs`. */
  async result({ timeoutMs = Infinity }: { readonly timeoutMs?: number } = {}): Promise<unknown> {
    const late = new AbortController();
    const cancel = timeoutMs === Infinity ? () => {} : this.#clock.after(timeoutMs, () => late.abort());
    try {
      for await (const { event } of this.watch(late.signal)) if (event === 'end') break;
    } finally {
      cancel();
    }
    return resultOf(await this.get());
  }

  /** Yields updates until the run has ended. */
  async *watch(signal?: AbortSignal): AsyncGenerator<RemoteRunUpdate, void, undefined> {
    for await (const { event, data } of this.#caller.events('streamRun', { params: { id: this.id } }, signal)) {
      yield { event, data } as RemoteRunUpdate;
    }
  }

  /**
   * Yields the chunks of the output behind the position `after`, or from the beginning, then each new one until the run
   * has ended. Reconnects when the connection is lost, and continues behind the last chunk.
   */
  async *output(
    { after, signal }: { readonly after?: string; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<OutputChunkView, void, undefined> {
    const request = { params: { id: this.id }, query: after === undefined ? {} : { after } };
    for await (const { event, data } of this.#caller.events('streamOutput', request, signal)) {
      if (event === 'chunk') yield data as OutputChunkView;
    }
  }

  cancel(why?: string): Promise<RunView> {
    return this.#caller.call('cancelRun', { params: { id: this.id }, body: reasonBody(why) });
  }

  stop(why?: string): Promise<Answer<'stopRun'>> {
    return this.#caller.call('stopRun', { params: { id: this.id }, body: reasonBody(why) });
  }

  retry(why?: string): Promise<RunView> {
    return this.#caller.call('retryRun', { params: { id: this.id }, body: reasonBody(why) });
  }

  async explain(): Promise<Answer<'explainRun'>['items']> {
    return (await this.#caller.call('explainRun', { params: { id: this.id } })).items;
  }
}

const reasonBody = (why: string | undefined): { why?: string } => (why === undefined ? {} : { why });

function resultOf(run: RunDetail): unknown {
  if (run.standing === 'succeeded') return run.result;
  const reason = run.error?.message ?? run.cancel?.why ?? run.standing;
  const isOver = run.state === 'ended';
  throw new ProblemError({
    type: 'about:blank',
    title: isOver ? 'the run did not succeed' : 'the run did not end in time',
    status: isOver ? 409 : 408,
    code: isOver ? `run.${run.standing}` : 'too.late',
    detail: isOver ? `run ${run.id} ${run.standing}: ${reason}` : `run ${run.id} did not end in time`,
    about: { id: run.id },
  });
}
