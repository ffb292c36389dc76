/** A job that an HTTP worker holds: its data, the signal that ends it, and the reports of its handler. */
import { LeaseLost } from '../engine/handler/errors.ts';
import type { Answer, ClaimedView, RequestArguments, RouteName } from '../http/contract.ts';

/** The method of the client that a job uses. */
export interface JobCaller {
  call<N extends RouteName>(name: N, request: RequestArguments<N>): Promise<Answer<N>>;
}

type ProgressSteps = RequestArguments<'tellProgress'>['body']['steps'];
type HttpLogLevel = NonNullable<RequestArguments<'tellLog'>['body']['lines'][number]['level']>;
type Children = RequestArguments<'createChildren'>['body']['children'];

export class HttpJob {
  /** The answer of the claim: id, type, input, attempt, tags and more. */
  readonly view: ClaimedView;
  /** Aborts if the job is cancelled or stopped, takes longer than its timeout, or is lost to another worker. */
  readonly signal: AbortSignal;
  readonly #caller: JobCaller;
  readonly #ending = new AbortController();
  #isLost = false;

  constructor(view: ClaimedView, caller: JobCaller) {
    this.view = view;
    this.signal = this.#ending.signal;
    this.#caller = caller;
  }

  get id(): number {
    return this.view.id;
  }

  get input(): unknown {
    return this.view.input;
  }

  async progress(...steps: ProgressSteps): Promise<void> {
    await this.#caller.call('tellProgress', { params: { id: this.id }, body: { fence: this.view.fence, steps } });
  }

  async log(text: string, level: HttpLogLevel = 'info'): Promise<void> {
    const body = { fence: this.view.fence, lines: [{ text, level }] };
    await this.#caller.call('tellLog', { params: { id: this.id }, body });
  }

  /** Creates children, which run when this job completes. The job is then claimed again, with `view.children`. */
  async createChildren(children: Children): Promise<Answer<'createChildren'>['items']> {
    const body = { fence: this.view.fence, children };
    return (await this.#caller.call('createChildren', { params: { id: this.id }, body })).items;
  }

  /** Whether another worker may have the job. A lost job that was cancelled before is lost, too. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** For the worker. Only the first reason is the signal's. */
  abort(reason: Error): void {
    this.#isLost ||= reason instanceof LeaseLost;
    this.#ending.abort(reason);
  }
}
