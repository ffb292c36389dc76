/** The routes of named limits. */
import { z } from 'zod';
import { DefParams, name, ReasonQuery, why } from './requests.ts';
import { at, define, Items, operate, readers } from './route.ts';
import { count, instant } from './run-views.ts';

const settings = {
  rate: z.string().nullable().meta({ description: 'such as 500/1m; null: not limited' }),
  burst: count.nullable().meta({ description: 'how many jobs may start at once after a quiet time' }),
  concurrency: count.nullable().meta({ description: 'null: not limited' }),
};
const LimitSettings = z.object(settings).meta({ id: 'LimitSettings' });

export const NamedLimitView = z
  .object({
    name: z.string(),
    isKeyed: z.boolean().meta({ description: 'whether each key has the values for itself' }),
    code: LimitSettings.nullable().meta({ description: 'null: no code has declared the limit' }),
    override: LimitSettings.partial()
      .extend({ by: z.string().nullable(), why: z.string().nullable() })
      .nullable()
      .meta({ description: 'what an operator has overridden' }),
    values: LimitSettings.meta({ description: 'the values that apply' }),
    use: z
      .array(z.object({
        key: z.string().nullable(),
        admitted: count.meta({ description: 'jobs that have started and not ended' }),
        opensAt: instant.meta({ description: 'when a job of cost 1 may start, as far as the rate is concerned' }),
        closedUntil: instant.nullable().meta({ description: 'until when a handler has closed the limit' }),
      }))
      .meta({ description: 'the use; if the limit has keys, of the most used ones' }),
  })
  .meta({ id: 'NamedLimit' });
export type NamedLimitView = z.infer<typeof NamedLimitView>;

const overrideFields = {
  rate: z.string().max(64).nullable().optional()
    .meta({ description: 'such as 500/1m; null: not limited; absent: the value of the code' }),
  burst: z.number().int().min(1).optional(),
  concurrency: z.number().int().min(1).nullable().optional(),
};
const LimitOverrideRequest = z.strictObject({ ...overrideFields, why: why.optional() }).meta({ id: 'LimitOverride' });
const LimitCreation = z
  .strictObject({ name, isKeyed: z.boolean().optional(), ...overrideFields, why: why.optional() })
  .meta({ id: 'LimitCreation' });

export const limitRouteTable = define({
  listLimits: {
    method: 'get', path: at('/limits'), roles: readers, summary: 'List named limits and their use',
    answer: Items('NamedLimits', NamedLimitView),
  },
  createLimit: {
    method: 'post', path: at('/limits'), roles: operate, status: 201,
    summary: 'Create a named limit that no code declares', body: LimitCreation, answer: NamedLimitView,
  },
  getLimit: {
    method: 'get', path: at('/limits/{name}'), roles: readers,
    summary: 'Get a named limit with the use of up to 100 keys', params: DefParams, answer: NamedLimitView,
  },
  overrideLimit: {
    method: 'put', path: at('/limits/{name}/override'), roles: operate,
    summary: 'Override the values of a named limit on all instances', params: DefParams, body: LimitOverrideRequest,
    answer: NamedLimitView,
  },
  resetLimit: {
    method: 'delete', path: at('/limits/{name}/override'), roles: operate,
    summary: 'Remove the override of a named limit', params: DefParams, query: ReasonQuery, answer: NamedLimitView,
  },
});
