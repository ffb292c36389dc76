/** The flow builder: collects the runs of a flow and what each of them follows. Nothing is stored before it is done. */
import type { FollowedRun } from '../../jobs/create-flow.ts';
import type { Following, Link } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';
import { followingOf, idOfRun, type FollowRequest, type MaybeFollowing, type RunReference, type SureFollowing } from './follow-request.ts';
import type { JobDef } from './job-def.ts';
import type { JobType } from './job-type.ts';
import {
  resultOrNullPart, resultPart, separateParts, unsureResult, type Linked, type MaybePart, type PlacedPart, type ResultPart,
} from './result-part.ts';
import type { ResultOf, Runnable, RunRequest } from './run-request.ts';

/** A run of a flow that is being built. */
export class FlowRun<Result = unknown> {
  /**
   * The result of this run, as an input of a run that follows it. `result.rows` is the member `rows` of the result. A run
   * that has a part of it as input follows this run, and starts only if this run succeeds.
   */
  readonly result: ResultPart<Result> = resultPart<Result>(this);
  /** Like `result`, for runs that start although this run fails: null if this run does not succeed. */
  readonly resultOrNull: MaybePart<Result | null> = resultOrNullPart<Result>(this);
}

type Followed = FlowRun | RunReference;

type RequestFields = Omit<RunRequest<never>, 'input' | 'followers' | keyof FollowRequest>;

/** The options of a run of a flow: those of `createJobRun`. Parts of `input` may be parts of results of other runs. */
export type FlowRunRequest<Input> = RequestFields & { readonly after?: Followed | readonly Followed[] } & (
  | (SureFollowing & InputOption<Linked<Input, 'sure'>, Input>)
  | (MaybeFollowing & InputOption<Linked<Input, 'maybe'>, Input>)
);

type InputOption<LinkedInput, Input> = undefined extends Input
  ? { readonly input?: LinkedInput }
  : { readonly input: LinkedInput };

export type FlowRequestOf<What extends Runnable> =
  What extends JobDef<infer Input, unknown> ? [request?: FlowRunRequest<Input | undefined>]
  : What extends JobType<infer Input, unknown>
    ? (undefined extends Input ? [request?: FlowRunRequest<Input>] : [request: FlowRunRequest<Input>])
  : never;

/** A run of a flow: what to run, its request, and what it follows. */
export interface BuiltRun {
  readonly what: Runnable;
  readonly request: RunRequest<unknown>;
  readonly after: readonly FollowedRun[];
  readonly follows: Following;
  /** Whether parts of the input are results of other runs, so that the input cannot be checked yet. */
  readonly isLinked: boolean;
}

export class FlowBuilder {
  readonly #runs: BuiltRun[] = [];
  readonly #targets = new Map<object, FollowedRun['run']>();

  /** Adds a run of a type or definition. It starts after the runs in `after`, and after those whose results it gets. */
  run<What extends Runnable>(what: What, ...[request]: FlowRequestOf<What>): FlowRun<ResultOf<What>> {
    const run = new FlowRun<ResultOf<What>>();
    this.#runs.push(this.#built(what, request ?? {}));
    this.#targets.set(run, { index: this.#runs.length - 1 });
    return run;
  }

  /** Returns a stored run, so that runs of this flow can follow it and get its result. */
  existing<Result = unknown>(run: RunReference & { readonly '~result'?: Result }): FlowRun<Result> {
    const followed = new FlowRun<Result>();
    this.#targets.set(followed, { id: idOfRun(run) });
    return followed;
  }

  get runs(): readonly BuiltRun[] {
    return this.#runs;
  }

  /** Returns the index of a run that was added to this flow. */
  indexOf(run: FlowRun): number {
    const target = this.#targets.get(run);
    if (target === undefined || !('index' in target)) throw foreignRun();
    return target.index;
  }

  #built(what: Runnable, { after, on, afterFailure, input: given, ...fields }: AnyRequest): BuiltRun {
    const { input, placed } = separateParts(given);
    const named = after === undefined ? [] : Array.isArray(after) ? (after as readonly Followed[]) : [after as Followed];
    const followed = this.#followed(named, placed);
    const isFollowing = followed.length > 0;
    const rule = { ...(on === undefined ? {} : { on }), ...(afterFailure === undefined ? {} : { afterFailure }) };
    const follows = followingOf({ ...rule, ...(isFollowing ? { after: [] } : {}) });
    if (follows.on !== 'succeeded' && placed.some(({ isSure }) => isSure)) throw unsureResult();
    return {
      what,
      request: { ...fields, ...(given === undefined ? {} : { input }), ...(isFollowing ? { after: [] } : {}) },
      after: followed,
      follows: placed.length > 0 ? { ...follows, hasLinks: true } : follows,
      isLinked: placed.length > 0,
    };
  }

  #followed(named: readonly Followed[], placed: readonly PlacedPart[]): readonly FollowedRun[] {
    const links = new Map<string, { readonly run: FollowedRun['run']; readonly links: Link[] }>();
    const linksOf = (run: FollowedRun['run']): Link[] => {
      const key = JSON.stringify(run);
      const known = links.get(key) ?? { run, links: [] };
      links.set(key, known);
      return known.links;
    };
    for (const run of named) linksOf(this.#targetOf(run));
    for (const { run, from, to } of placed) {
      if (!(run instanceof FlowRun)) throw resultOfDef();
      linksOf(this.#targetOf(run)).push({ from, to });
    }
    return [...links.values()];
  }

  #targetOf(run: Followed): FollowedRun['run'] {
    if (!(run instanceof FlowRun)) return { id: idOfRun(run) };
    const target = this.#targets.get(run);
    if (target === undefined) throw foreignRun();
    return target;
  }
}

type AnyRequest = RequestFields & {
  readonly input?: unknown;
  readonly after?: Followed | readonly Followed[];
  readonly on?: Exclude<FollowRequest['on'], undefined>;
  readonly afterFailure?: Exclude<FollowRequest['afterFailure'], undefined>;
};

const foreignRun = (): Refusal =>
  new Refusal('malformed.flow', 'a run of another flow cannot be followed: pass its id or its handle instead');

const resultOfDef = (): Refusal => new Refusal(
  'malformed.flow', 'the result of a definition is for definitions that follow it: use the result of a run of this flow',
);
