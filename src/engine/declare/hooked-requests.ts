/** Requests for runs as the creation hook has changed them. */
import type { CreationHook, NewRun } from '../../jobs/creation-hook.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import { checkRequest, refuseMissingResult, type RunRequest } from './run-request.ts';
import type { TypeRules } from './type-rules.ts';

/** Calls the hook for each request. If it refuses one, all are refused. */
export function throughHook(
  creating: CreationHook,
  rules: TypeRules,
  known: KnownDefinition | null,
  requests: readonly RunRequest<unknown>[],
  by: string,
): Promise<readonly RunRequest<unknown>[]> {
  const about = {
    kind: 'run', type: rules.entry.name, def: known?.name ?? null, tickTime: null, by,
  } as const;
  const params = known?.spec.params ?? undefined;
  const priority = known?.spec.priority ?? rules.entry.priority;
  return Promise.all(requests.map(async (request) => {
    const { input = params, tags } = checkRequest(request);
    if (known !== null) refuseMissingResult(request, known);
    const run: NewRun = {
      ...about, input, priority: request.priority ?? priority, tags: { ...known?.spec.tags, ...tags },
    };
    return changedRequest(request, run, await creating(run));
  }));
}

/** Sets only what has changed: the defaults of a definition and of a type are applied later. */
const changedRequest = (request: RunRequest<unknown>, before: NewRun, after: NewRun): RunRequest<unknown> => ({
  ...request,
  ...(after.input === before.input ? {} : { input: after.input }),
  ...(after.priority === before.priority || after.priority === undefined ? {} : { priority: after.priority }),
  ...(after.tags === before.tags ? {} : { tags: after.tags }),
});
