/** Middleware: functions of the application around the creation of runs and around the attempts of handlers. */
import { checkFields, checkList } from '../../jobs/checks/values.ts';
import type { NewRun, RunChanges } from '../../jobs/creation-hook.ts';
import { Refusal } from '../../refusal.ts';
import type { Context, RunFacts } from '../handler/context.ts';

export interface Middleware {
  /**
   * Called for each run that this engine is about to create, before its input is validated. `next` continues with the
   * changes that it is given; it resolves when the inner middleware has returned. An error refuses the run.
   */
  readonly create?: (run: NewRun, next: (changes?: RunChanges) => Promise<void>) => unknown;
  /**
   * Called for each attempt of a handler. `next` calls the handler, and resolves or rejects when the handler has ended.
   * An error fails the attempt, as an error of the handler does. The result of the attempt is the handler's.
   */
  readonly work?: (attempt: WorkAttempt, next: () => Promise<void>) => unknown;
}

/** The attempt that a middleware surrounds. */
export interface WorkAttempt extends Pick<Context, 'signal' | 'log' | 'idempotencyKey' | 'fence'> {
  /** The id of the job: of the run, or of the task. */
  readonly id: number;
  readonly kind: 'run' | 'task';
  /** `prepare`: the run plans its tasks; `gather`: it computes its result from them; `run`: any other attempt. */
  readonly phase: 'run' | 'prepare' | 'gather';
  /** The run; for a task, the run that the task belongs to. */
  readonly run: RunFacts;
  /** The validated input of the run. */
  readonly input: unknown;
  /** The task; undefined for a run. */
  readonly task: unknown;
}

const middlewareMax = 100;

export const checkMiddleware = (middleware: readonly Middleware[]): readonly Middleware[] =>
  checkList('middleware', middleware, middlewareMax, checkOne);

function checkOne(one: Middleware): Middleware {
  const { create, work } = checkFields('a middleware', one, ['create', 'work']);
  for (const [name, part] of Object.entries({ create, work })) {
    if (part === undefined || typeof part === 'function') continue;
    throw new Refusal('malformed.option', `${name} of a middleware must be a function`, { given: typeof part });
  }
  return one;
}
