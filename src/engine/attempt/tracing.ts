/**
 * Tracing: one OpenTelemetry span for each creation of runs, and one for each attempt. If its run was created in a
 * span, the span of an attempt is a child of that span, even if another process created the run. Without
 * @opentelemetry/api or a registered provider, no span is made.
 */
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Draft } from '../../jobs/draft.ts';
import type { Job, Tags } from '../../model/job.ts';
import { storedError } from './stored-error.ts';

type Api = typeof OpenTelemetry;

/** The tags that carry the trace context of a run, named as in W3C Trace Context. */
const carried = ['traceparent', 'tracestate'] as const;
/** The maximum length of a tag's value. A `traceparent` or `tracestate` that is longer is not stored. */
const carriedMax = 255;

let loading: Promise<Api | null> | undefined;

/**
 * Imports `@opentelemetry/api`. The import is real I/O, so simulations await it before their virtual time begins. No
 * exported type mentions the package: without it, a program that checks the types of its libraries does not compile.
 */
export async function loadOpenTelemetry(): Promise<void> {
  await loaded();
}

/** Imports the package once per process; null: it is not installed. */
function loaded(): Promise<Api | null> {
  loading ??= import('@opentelemetry/api').catch(missing);
  return loading;
}

export class Tracing {
  #loaded: Api | null = null;
  /** OpenTelemetry's default provider, which is active while the application has registered none. */
  #noopProvider: OpenTelemetry.TracerProvider | null = null;

  async load(): Promise<void> {
    const api = await loaded();
    if (api !== null) this.#use(api);
  }

  /** Whether spans are made. */
  get isOn(): boolean {
    return this.#api !== null;
  }

  /** Calls `create` in a span, with drafts that carry the trace context as tags. */
  creating<T>(type: string, drafts: readonly Draft[], create: (drafts: readonly Draft[]) => Promise<T>): Promise<T> {
    const api = this.#api;
    if (api === null) return create(drafts);
    const options = {
      kind: api.SpanKind.PRODUCER,
      attributes: { ...about('create', type), 'stint.runs': drafts.length },
    };
    return inSpan(api, `create ${type}`, options, api.context.active(), () =>
      create(drafts.map((draft) => traced(api, draft))),
    );
  }

  /** The draft with the current trace context as tags: for runs that are stored with others, in no span of their own. */
  carrying(draft: Draft): Draft {
    const api = this.#api;
    return api === null ? draft : traced(api, draft);
  }

  /** Calls `work`, one attempt, in a span. `tagsOf` reads the tags of the job's run, which carry the trace context. */
  trying<T>(job: Job, tagsOf: (job: Job) => Promise<Tags | null>, work: () => T | Promise<T>): T | Promise<T> {
    const api = this.#api;
    return api === null ? work() : this.#traced(api, job, tagsOf, work);
  }

  async #traced<T>(
    api: Api,
    job: Job,
    tagsOf: (job: Job) => Promise<Tags | null>,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const parent = api.propagation.extract(api.context.active(), (await tagsOf(job)) ?? {});
    const facts = {
      'stint.job.id': job.id,
      'stint.job.kind': job.kind,
      'stint.attempt': job.attempt + job.crashes,
      'stint.phase': job.phase,
    };
    const options = { kind: api.SpanKind.CONSUMER, attributes: { ...about('process', job.type), ...facts } };
    return inSpan(api, `run ${job.type}`, options, parent, work);
  }

  #use(api: Api): void {
    this.#loaded = api;
    this.#noopProvider = new api.ProxyTracerProvider().getDelegate();
  }

  /** The package `@opentelemetry/api`; null: it is not installed, or the application has registered no provider. */
  get #api(): Api | null {
    const api = this.#loaded;
    if (api === null) return null;
    const provider = api.trace.getTracerProvider();
    return provider instanceof api.ProxyTracerProvider && provider.getDelegate() === this.#noopProvider ? null : api;
  }
}

/** Returns span attributes that are named by OpenTelemetry's semantic conventions for messaging. */
const about = (operation: string, type: string): OpenTelemetry.Attributes => ({
  'messaging.system': 'stint',
  'messaging.operation.name': operation,
  'messaging.destination.name': type,
});

function traced(api: Api, draft: Draft): Draft {
  const carrier: Record<string, string> = {};
  api.propagation.inject(api.context.active(), carrier);
  const present = carried.filter((name) => carrier[name] !== undefined && carrier[name].length <= carriedMax);
  if (present.length === 0) return draft;
  return { ...draft, tags: { ...draft.tags, ...Object.fromEntries(present.map((name) => [name, carrier[name]!])) } };
}

function inSpan<T>(
  api: Api,
  name: string,
  options: OpenTelemetry.SpanOptions,
  parent: OpenTelemetry.Context,
  work: () => T | Promise<T>,
): Promise<T> {
  return api.trace.getTracer('stint').startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      const { code, name = code, message, stack } = storedError(error);
      span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) });
      span.setStatus({ code: api.SpanStatusCode.ERROR, message });
      throw error;
    } finally {
      span.end();
    }
  });
}

function missing(error: unknown): null {
  if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  return null;
}
