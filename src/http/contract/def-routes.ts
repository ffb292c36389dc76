/** The routes of definitions and schedules. */
import { z } from 'zod';
import {
  Act, BackfillRequest, DefApplication, DefClone, DefCreation, DefDocument, defFilterFields, DefOverride, DefParams, DefRename,
  DefRunRequest, DefSwitch, duration, flag, name, pageFields, ReasonQuery, ScheduleRequest, time, whole,
} from './requests.ts';
import { readers, produce, operate, Items, at, define } from './route.ts';
import { count, pageOf, RunCreated } from './run-views.ts';
import {
  BackfillView, CalendarView, DefNames, DefPage, DefPlanView, DefView, Nothing, PastTickView, PreviewTick, TickView,
} from './views.ts';

export const defRouteTable = define({
  listDefs: {
    method: 'get', path: at('/defs'), roles: readers, summary: 'List definitions',
    query: z
      .strictObject({
        after: pageFields.after, limit: whole(1, 1000).optional(), ...defFilterFields,
      })
      .meta({ id: 'DefListQuery' }),
    answer: DefPage,
  },
  createDef: {
    method: 'post', path: at('/defs'), roles: operate, status: 201, summary: 'Create a definition', body: DefCreation,
    answer: DefView,
  },
  exportDefs: {
    method: 'get', path: at('/definitions/export'), roles: operate,
    summary: 'Export definitions as a document that can be applied',
    query: z.strictObject({ ...defFilterFields, whole: flag.optional() }).meta({ id: 'DefExportQuery' }),
    answer: DefDocument,
  },
  applyDefs: {
    method: 'post', path: at('/definitions/apply'), roles: operate,
    summary: 'Create, change and delete definitions as a document says, all or none',
    body: DefApplication, answer: DefPlanView,
  },
  switchDefs: {
    method: 'post', path: at('/definitions/switch'), roles: operate,
    summary: 'Enable or disable all matching definitions', body: DefSwitch, answer: DefNames,
  },
  cloneDef: {
    method: 'post', path: at('/defs/{name}/clone'), roles: operate, status: 201,
    summary: 'Create a definition with the settings of another one',
    params: DefParams, body: DefClone, answer: DefView,
  },
  renameDef: {
    method: 'post', path: at('/defs/{name}/rename'), roles: operate,
    summary: 'Give a definition another name; its runs keep the old one',
    params: DefParams, body: DefRename, answer: DefView,
  },
  getDef: {
    method: 'get', path: at('/defs/{name}'), roles: readers,
    summary: 'Get a definition', params: DefParams, answer: DefView,
  },
  overrideDef: {
    method: 'patch', path: at('/defs/{name}'), roles: operate,
    summary: 'Override declared settings of a definition',
    params: DefParams, body: DefOverride, answer: DefView,
  },
  resetDef: {
    method: 'delete', path: at('/defs/{name}/override'), roles: operate, summary: 'Remove the override of a definition',
    params: DefParams, query: ReasonQuery, answer: DefView,
  },
  deleteDef: {
    method: 'delete', path: at('/defs/{name}'), roles: operate, summary: 'Delete a definition; its runs stay',
    params: DefParams, query: ReasonQuery, answer: Nothing,
  },
  enableDef: {
    method: 'post', path: at('/defs/{name}/enable'), roles: operate, summary: 'Resume the schedules of a definition',
    params: DefParams, body: Act, answer: DefView,
  },
  disableDef: {
    method: 'post', path: at('/defs/{name}/disable'), roles: operate, summary: 'Suspend the schedules of a definition',
    params: DefParams, body: Act, answer: DefView,
  },
  runDef: {
    method: 'post', path: at('/defs/{name}/run'), roles: produce, status: 201, summary: 'Create a run of a definition',
    params: DefParams, body: DefRunRequest, answer: RunCreated,
  },
  listTicks: {
    method: 'get', path: at('/defs/{name}/ticks'), roles: readers,
    summary: 'List past ticks and their outcome, newest first',
    params: DefParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 1000).optional() }).meta({ id: 'TickListQuery' }),
    answer: pageOf('TickPage', TickView),
  },
  listPastTicks: {
    method: 'get', path: at('/defs/{name}/past-ticks'), roles: readers,
    summary: 'List the ticks of a range, newest first: each with its run, why it was skipped, or neither',
    params: DefParams,
    query: z
      .strictObject({
        from: time.optional().meta({ description: 'default: a day before `to`' }),
        to: time.optional().meta({ description: 'only ticks before it; for the next page, `next` of this one' }),
        limit: whole(1, 1000).optional(),
      })
      .meta({ id: 'PastTickListQuery' }),
    answer: pageOf('PastTickPage', PastTickView),
  },
  backfillDef: {
    method: 'post', path: at('/defs/{name}/backfill'), roles: operate, status: 201,
    summary: 'Create the runs of past ticks that have none, or count them',
    params: DefParams, body: BackfillRequest, answer: BackfillView,
  },
  previewDef: {
    method: 'get', path: at('/defs/{name}/preview'), roles: readers,
    summary: 'Preview the next ticks of all its schedules',
    params: DefParams,
    query: z
      .strictObject({
        count: whole(1, 1000).optional(),
        runLasts: duration.optional().meta({ description: 'assumed duration of each run' }),
        gap: z.enum(['next', 'shift', 'skip']).optional()
          .meta({ description: 'use this policy instead of the one of the schedules' }),
        overlap: z.enum(['first', 'last', 'both']).optional(),
      })
      .meta({ id: 'DefPreviewQuery' }),
    answer: Items(
      'DefPreview',
      PreviewTick.extend({ schedule: count, does: z.enum(['runs', 'is skipped', 'waits', 'replaces']) }),
    ),
  },
  calendar: {
    method: 'get', path: at('/calendar'), roles: readers,
    summary: 'Count the ticks of all enabled definitions in each hour',
    query: z
      .strictObject({
        from: time.optional(), hours: whole(1, 168).optional().meta({ description: 'default: 24' }),
        zone: z.string().max(64).optional(),
      })
      .meta({ id: 'CalendarQuery' }),
    answer: CalendarView,
  },
  previewSchedule: {
    method: 'post', path: at('/schedules/preview'), roles: readers,
    summary: 'Preview the next ticks of any schedule',
    body: z
      .strictObject({
        schedule: ScheduleRequest, count: whole(1, 1000).optional(), from: time.optional(), name: name.optional(),
      })
      .meta({ id: 'PreviewRequest' }),
    answer: z.object({ words: z.string(), ticks: z.array(PreviewTick) }).meta({ id: 'Preview' }),
  },
});
