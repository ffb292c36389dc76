/**
 * Tracing: one span where runs are created and one for each try at them, in whatever process that is. It speaks
 * OpenTelemetry where the program has @opentelemetry/api and a provider is set up; where not, it costs a comparison.
 */
import type * as OpenTelemetry from '@opentelemetry/api';
import type { Draft } from '../../jobs/draft.ts';
import type { Job, Tags } from '../../model/job.ts';
import { storedError } from './command-for.ts';

type Api = typeof OpenTelemetry;

/** Under these names a run carries the trace that it belongs to: those of the W3C. */
const carried = ['traceparent', 'tracestate'] as const;
/** As long as the value of a tag may be. */
const carriedMax = 255;

let loading: Promise<Api | null> | undefined;

/**
 * Imports the package once per process; null: it is not installed. The import is real I/O that takes any number of turns
 * of the event loop: a simulation awaits it before its virtual time begins.
 */
export function loadOpenTelemetry(): Promise<Api | null> {
  loading ??= import('@opentelemetry/api').catch(missing);
  return loading;
}

export class Tracing {
  #loaded: Api | null = null;
  /** Who provides where no provider is set up. */
  #noopProvider: OpenTelemetry.TracerProvider | null = null;

  async load(): Promise<void> {
    const api = await loadOpenTelemetry();
    if (api !== null) this.#use(api);
  }

  /** Around the creation of runs, which takes the drafts with the trace they belong to. */
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

  /** Around one try; `tagsOf` tells the tags of the run that a job belongs to. */
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
      'stint.attempt': job.attempt + 1,
      'stint.phase': job.phase,
    };
    const options = { kind: api.SpanKind.CONSUMER, attributes: { ...about('process', job.type), ...facts } };
    return inSpan(api, `run ${job.type}`, options, parent, work);
  }

  #use(api: Api): void {
    this.#loaded = api;
    this.#noopProvider = new api.ProxyTracerProvider().getDelegate();
  }

  /** Null as long as nobody listens. */
  get #api(): Api | null {
    const api = this.#loaded;
    if (api === null) return null;
    const provider = api.trace.getTracerProvider();
    return provider instanceof api.ProxyTracerProvider && provider.getDelegate() === this.#noopProvider ? null : api;
  }
}

/** By the names that OpenTelemetry has for messages. */
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
      const { code, message, stack } = storedError(error);
      span.recordException({ name: code, message, ...(stack === undefined ? {} : { stack }) });
      span.setStatus({ code: api.SpanStatusCode.ERROR, message });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Anything but its absence is a mistake that its owner should see. */
function missing(error: unknown): null {
  if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  return null;
}
