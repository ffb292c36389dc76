// Traces: from the creation of a run to every try at it, in whatever process; with the real API and a small provider.
import * as api from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jobType } from '../../../src/index.ts';
import { start } from './kit.ts';

interface Told {
  readonly name: string;
  readonly kind: api.SpanKind;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly attributes: api.Attributes;
  error: string | undefined;
  isEnded: boolean;
}

const told: Told[] = [];

/** A minimal provider: it records all spans. */
const tracer: api.Tracer = {
  startSpan(name, { kind = api.SpanKind.INTERNAL, attributes = {} } = {}, context = api.context.active()) {
    const parent = api.trace.getSpanContext(context);
    const trace = parent?.traceId ?? randomBytes(16).toString('hex');
    const id = randomBytes(8).toString('hex');
    const own: Told = { name, kind, trace, id, parent: parent?.spanId, attributes, error: undefined, isEnded: false };
    told.push(own);
    const span = api.trace.wrapSpanContext({ traceId: trace, spanId: id, traceFlags: api.TraceFlags.SAMPLED });
    return Object.assign(Object.create(span) as api.Span, {
      spanContext: () => ({ traceId: trace, spanId: id, traceFlags: api.TraceFlags.SAMPLED }),
      recordException: () => {},
      setStatus({ message }: api.SpanStatus) {
        own.error = message;
        return this;
      },
      end: () => void (own.isEnded = true),
    });
  },
  startActiveSpan(name: string, ...rest: unknown[]) {
    const work = rest.at(-1) as (span: api.Span) => unknown;
    const [options, parent] = rest.slice(0, -1) as [api.SpanOptions?, api.Context?];
    const span = this.startSpan(name, options, parent);
    return api.context.with(api.trace.setSpan(parent ?? api.context.active(), span), () => work(span)) as never;
  },
};

const active = new AsyncLocalStorage<api.Context>();
const contexts: api.ContextManager = {
  active: () => active.getStore() ?? api.ROOT_CONTEXT,
  with: (context, work, self, ...values) => active.run(context, () => work.call(self, ...values)),
  bind: (_, target) => target,
  enable() {
    return this;
  },
  disable() {
    return this;
  },
};
/** The W3C's, as the SDK has it. */
const propagator: api.TextMapPropagator = {
  inject(context, carrier, setter) {
    const span = api.trace.getSpanContext(context);
    if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
  },
  extract(context, carrier, getter) {
    const [, traceId = '', spanId = ''] = String(getter.get(carrier, 'traceparent') ?? '').split('-');
    if (spanId === '') return context;
    return api.trace.setSpanContext(context, { traceId, spanId, traceFlags: api.TraceFlags.SAMPLED, isRemote: true });
  },
  fields: () => ['traceparent'],
};

beforeAll(() => {
  api.trace.setGlobalTracerProvider({ getTracer: () => tracer });
  api.context.setGlobalContextManager(contexts);
  api.propagation.setGlobalPropagator(propagator);
});
afterAll(() => {
  api.trace.disable();
  api.context.disable();
  api.propagation.disable();
});
beforeEach(() => void (told.length = 0));

const named = (name: string): Told[] => told.filter((span) => span.name === name);

test('a try belongs to the trace in which its run was created, also in another process', async () => {
  const work = jobType('work', {
    retry: { attempts: 2, base: '1s' },
    run: ({ run }) => {
      if (run.attempt === 1) throw new Error('not yet');
    },
  });
  const t = await start({ types: [] });
  const { id } = await t.engine.createNamed({ type: 'work' }, {});
  await t.restart({ types: [work] });
  await t.advance('1h');
  const [created] = named('create work');
  const tries = named('run work');
  expect(created).toMatchObject({ kind: api.SpanKind.PRODUCER, isEnded: true, parent: undefined });
  expect(tries.map(({ error }) => error)).toEqual(['not yet', undefined]);
  expect(tries.map(({ attributes }) => attributes['stint.attempt'])).toEqual([1, 2]);
  for (const each of tries) {
    expect(each).toMatchObject({
      trace: created!.trace,
      parent: created!.id,
      kind: api.SpanKind.CONSUMER,
      isEnded: true,
    });
    expect(each.attributes).toMatchObject({ 'messaging.system': 'stint', 'stint.job.id': id });
  }
});

test('runs that a handler creates continue its trace, and tasks belong to the trace of their run', async () => {
  const leaf = jobType('leaf', { run: () => 1 });
  const fan = jobType('fan', {
    taskDetails: () => [1, 2],
    taskResults: () => 1,
    jobResults: async (): Promise<void> => void (await t.engine.createJobRun(leaf)),
  });
  const t = await start({ types: [fan, leaf] });
  await t.createJobRun(fan);
  await t.drain();
  const [created] = named('create fan');
  const tries = named('run fan');
  expect(tries.map(({ attributes }) => [attributes['stint.job.kind'], attributes['stint.phase']])).toEqual([
    ['run', 'prepare'],
    ['task', 'run'],
    ['task', 'run'],
    ['run', 'gather'],
  ]);
  expect(new Set(told.map(({ trace }) => trace))).toEqual(new Set([created!.trace]));
  expect(named('create leaf')[0]!.parent).toBe(tries.at(-1)!.id);
});

test('children continue the trace of the attempt that adds them, and flows the trace of their creator', async () => {
  const leaf = jobType('leaf', { run: () => 1 });
  const parent = jobType('parent', { run: ({ children }) => children.add(leaf) });
  const t = await start({ types: [parent, leaf] });
  await t.createJobRun(parent);
  await t.drain();
  expect(named('run leaf')).toMatchObject([{ trace: named('create parent')[0]!.trace, parent: named('run parent')[0]!.id }]);

  const span = tracer.startSpan('request');
  const context = api.trace.setSpan(api.ROOT_CONTEXT, span);
  await api.context.with(context, () => t.engine.createFlow((flow) => {
    flow.run(leaf, { after: [flow.run(leaf)] });
  }));
  await t.drain();
  const { traceId, spanId } = span.spanContext();
  expect(named('run leaf').slice(1)).toMatchObject([{ trace: traceId, parent: spanId }, { trace: traceId, parent: spanId }]);
});

test('without a provider a run stores no trace context', async () => {
  api.trace.disable();
  api.propagation.disable();
  const quiet = jobType('quiet', { run: () => {} });
  const t = await start({ types: [quiet] });
  const run = await t.createJobRun(quiet);
  await t.drain();
  expect((await run.get()).tags).toBeNull();
  expect(told).toEqual([]);
});
