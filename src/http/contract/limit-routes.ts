/** The routes of named limits. */
import { z } from 'zod';
import { DefParams, name, PauseRequest, ReasonQuery, spread, why } from './requests.ts';
import { at, define, Items, operate, readers } from './route.ts';
import { count, instant } from './run-views.ts';
import { Nothing, ResumeSpread } from './views.ts';

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
    paused: z.object({ by: z.string(), why: z.string().nullable(), since: instant, until: instant.nullable() }).nullable()
      .meta({ description: 'who has paused the limit, why and until when; null: it is not paused' }),
    spread: ResumeSpread.extend({ until: instant }).nullable()
      .meta({ description: 'who has resumed the limit, if what piled up is let out evenly until `until`' }),
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

const LimitReopening = z
  .strictObject({
    key: z.string().optional().meta({ description: 'reopen only this key; absent: all keys' }),
    why: why.optional(),
  })
  .meta({ id: 'LimitReopening' });

const LimitPauseRequest = PauseRequest.omit({ key: true }).meta({ id: 'LimitPauseRequest' });
const LimitResuming = z.strictObject({ why: why.optional(), spread: spread.optional() }).meta({ id: 'LimitResuming' });

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
  pauseLimit: {
    method: 'post', path: at('/limits/{name}/pause'), roles: operate,
    summary: 'Pause a named limit: no job that uses it starts; running jobs continue', params: DefParams,
    body: LimitPauseRequest, answer: NamedLimitView,
  },
  resumeLimit: {
    method: 'post', path: at('/limits/{name}/resume'), roles: operate, summary: 'End the pause of a named limit, or the spread of its resume',
    params: DefParams, body: LimitResuming, answer: NamedLimitView,
  },
  deleteLimit: {
    method: 'delete', path: at('/limits/{name}'), roles: operate, summary: 'Delete a named limit that no living instance declares',
    params: DefParams, query: ReasonQuery, answer: Nothing,
  },
  overrideLimit: {
    method: 'put', path: at('/limits/{name}/override'), roles: operate,
    summary: 'Override the values of a named limit on all instances', params: DefParams, body: LimitOverrideRequest,
    answer: NamedLimitView,
  },
  reopenLimit: {
    method: 'post', path: at('/limits/{name}/reopen'), roles: operate,
    summary: 'Let jobs start again at a named limit that is closed or overspent', params: DefParams, body: LimitReopening,
    answer: NamedLimitView,
  },
  resetLimit: {
    method: 'delete', path: at('/limits/{name}/override'), roles: operate,
    summary: 'Remove the override of a named limit', params: DefParams, query: ReasonQuery, answer: NamedLimitView,
  },
});
