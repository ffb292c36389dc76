// Types of middleware; nothing here is ever called.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Engine, type EngineOptions, type Middleware, type RunFacts } from '../../src/index.ts';
import { exactly } from './same.ts';

export const sound: Middleware = {
  create: (run, next) => {
    exactly<string>()(run.type);
    exactly<unknown>()(run.input);
    exactly<Date | null>()(run.tickTime);
    return next({ input: 7, priority: 3, tags: { ...run.tags, tenant: 'acme' } });
  },
  work: async (attempt, next) => {
    exactly<RunFacts>()(attempt.run);
    exactly<'run' | 'task'>()(attempt.kind);
    exactly<'run' | 'prepare' | 'gather'>()(attempt.phase);
    exactly<AbortSignal>()(attempt.signal);
    exactly<Promise<void>>()(new AsyncLocalStorage<string>().run('acme', next));
    exactly<void>()(await next());
  },
};

export const options: EngineOptions = { middleware: [sound, {}] };

export const wrong: Middleware[] = [
  // @ts-expect-error -- the type of a run cannot be changed
  { create: (_, next) => next({ type: 'other' }) },
  // @ts-expect-error -- a priority is a number
  { create: (_, next) => next({ priority: 'high' }) },
  // @ts-expect-error -- an attempt cannot be changed
  { work: (_, next) => next({ input: 7 }) },
  // @ts-expect-error -- it is called create
  { created: () => {} },
];

// @ts-expect-error -- a list
export const unlisted = (): Engine => new Engine({ middleware: sound });
