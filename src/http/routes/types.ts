/** One job type over HTTP: its settings and the schema of its input. */
import type { JobType } from '../../engine/declare/job-type.ts';
import { jsonSchemaOf } from '../../engine/declare/json-schema.ts';
import { workKinds } from '../../model/state.ts';
import { Refusal } from '../../refusal.ts';
import { openStandings } from '../../store/query.ts';
import { durationMs } from '../../time/duration.ts';
import type { TypeDetail } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { typeView } from './overview.ts';

export const typeRoutes: RouteHandlers<'getType'> = {
  async getType({ engine }, { params: { name } }) {
    const now = engine.now();
    const alive = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    const tallies = await engine.count({ kinds: workKinds, types: [name], standings: openStandings });
    const local = engine.types().find((type) => type.name === name);
    const isKnown = local !== undefined || tallies.length > 0 || alive.some(({ about }) => about.types.includes(name));
    if (!isKnown) throw new Refusal('unknown.type', `no live instance knows the job type ${name}`, { name });
    return { ...typeView(name, local, alive, tallies), ...settings(local) };
  },
};

function settings(type: JobType | undefined): Omit<TypeDetail, keyof ReturnType<typeof typeView>> {
  const { taskConcurrency, limit, timeout, retry, input } = type?.options ?? {};
  return {
    taskConcurrency: taskConcurrency ?? null,
    keyConcurrency: limit?.concurrency ?? null,
    timeoutMs: timeout === undefined ? null : durationMs(timeout),
    attempts: retry?.attempts ?? null,
    schema: input === undefined ? null : jsonSchemaOf(input),
  };
}
