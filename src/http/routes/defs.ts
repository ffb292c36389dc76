/** Definitions over HTTP: list, create, override, enable, run and delete them, and show past and future ticks. */
import type { DefOptions } from '../../engine/declare/job-def.ts';
import type { TickOutcome } from '../../model/event.ts';
import type { DefChanges } from '../../engine/declare/def-changes.ts';
import { describeSchedule } from '../../time/describe.ts';
import type { Duration } from '../../time/duration.ts';
import { preview } from '../../time/preview.ts';
import type { Answer } from '../contract.ts';
import type { DefFilter } from '../../engine/declare/def-filter.ts';
import type { ListedDefinition } from '../../engine/reads.ts';
import type { Visibility } from '../access/redact.ts';
import { instantOf, tagsOf } from '../filter.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { actor } from '../access/principal.ts';
import { checkPriorityOf } from '../access/priority.ts';
import { scheduleOf } from '../schedules.ts';
import { definitionView, definitionViews, previewView } from '../views.ts';
import { act, created } from './runs.ts';

type DefRouteNames =
  | 'listDefs' | 'createDef' | 'getDef' | 'overrideDef' | 'resetDef' | 'deleteDef' | 'enableDef' | 'disableDef'
  | 'runDef' | 'listTicks' | 'listPastTicks' | 'backfillDef' | 'calendar' | 'previewDef' | 'previewSchedule';

const pageDefault = 100;

export function defFilterOf({ tag, ...filter }: FilterRequest, visibility: Visibility): DefFilter {
  return { ...filter, ...(tag === undefined ? {} : { tags: tagsOf(tag, visibility) }) } as DefFilter;
}

type FilterRequest = { readonly [F in Exclude<keyof DefFilter, 'tags' | 'names'>]?: string | undefined } &
  { readonly tag?: string[] | undefined; readonly names?: string[] | undefined };
const previewDefault = 10;

export const defRoutes: StoreRouteHandlers<DefRouteNames> = {
  async listDefs({ engine }, { query: { after, limit = pageDefault, ...filter } }, { principal: { visibility } }) {
    const found: ListedDefinition[] = [];
    for await (const known of engine.eachDefinition(defFilterOf(filter, visibility), after)) {
      found.push(known);
      if (found.length > limit) break;
    }
    const shown = found.slice(0, limit);
    const items = await definitionViews(engine, shown, visibility);
    return { items, next: found.length > limit ? shown.at(-1)!.job.id : null };
  },

  async createDef({ engine, priorities }, { body: { name, type, schedules = [], ...options } }, { principal }) {
    checkPriorityOf(principal, options.priority, priorities);
    const definition = { ...options, schedules: schedules.map(scheduleOf) } as unknown as DefOptions<unknown>;
    await engine.define(name, type, definition, { by: actor(principal) });
    return definitionView(engine, await engine.definition(name), principal.visibility);
  },

  async getDef({ engine }, { params: { name } }, { principal: { visibility } }) {
    return definitionView(engine, await engine.definition(name), visibility);
  },

  async overrideDef({ engine, priorities }, { params: { name }, body: { why, schedules, ...rest } }, { principal }) {
    checkPriorityOf(principal, rest.priority, priorities);
    const changed = schedules === undefined ? {} : { schedules: schedules && schedules.map(scheduleOf) };
    await engine.override(name, { ...rest, ...changed } as DefChanges, act(principal, why));
    return definitionView(engine, await engine.definition(name), principal.visibility);
  },

  async resetDef({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.override(name, null, act(principal, why));
    return definitionView(engine, await engine.definition(name), principal.visibility);
  },

  async deleteDef({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.undefine(name, act(principal, why));
    return {};
  },

  async enableDef({ engine }, { params: { name }, body: { why } }, { principal }) {
    await engine.enable(name, act(principal, why));
    return definitionView(engine, await engine.definition(name), principal.visibility);
  },

  async disableDef({ engine }, { params: { name }, body: { why } }, { principal }) {
    await engine.disable(name, act(principal, why));
    return definitionView(engine, await engine.definition(name), principal.visibility);
  },

  async runDef(services, { params: { name }, body }, call) {
    return created(services, { def: name }, body, call);
  },

  /**
   * Lists ticks, newest first. A page has all ticks of `limit` events of the definition. One event can have several
   * ticks or none, so a page can have more or fewer than `limit` ticks.
   */
  async listTicks({ engine }, { params: { name }, query: { after, limit = pageDefault } }) {
    const { job } = await engine.definition(name);
    const newest = after === undefined ? job.version : after - 1;
    const from = Math.max(1, newest - limit + 1);
    const events = newest < 1 ? [] : await engine.history(job.id, from, newest - from + 1);
    const items = events.toReversed().flatMap((event) =>
      event.kind === 'ticked' ? event.ticks.toReversed().map((tick) => tickView(event.n, event.at, tick)) : []);
    return { items, next: from > 1 ? from : null };
  },

  async listPastTicks({ engine }, { params: { name }, query: { from, to, limit } }) {
    const { ticks, next } = await engine.ticks(name, {
      ...(from === undefined ? {} : { from: instantOf(from) }),
      ...(to === undefined ? {} : { to: instantOf(to) }),
      ...(limit === undefined ? {} : { limit }),
    });
    return { items: [...ticks], next };
  },

  async backfillDef({ engine }, { params: { name }, body }, call) {
    const { from, to, only, concurrency, followers, dryRun = false, why } = body;
    const options = {
      from: instantOf(from), to: instantOf(to),
      ...(only === undefined ? {} : { only }), ...(concurrency === undefined ? {} : { concurrency }),
      ...(followers === undefined ? {} : { followers }),
    };
    const plan = await engine.planBackfill(name, options);
    if (dryRun) {
      call.status = 200;
      return { ...plan, operation: null };
    }
    const { id } = await engine.backfill(name, options, act(call.principal, why));
    return { ...plan, operation: id };
  },

  async calendar({ engine }, { query: { from, hours, zone } }) {
    const { hours: rows, busiest, ...rest } = await engine.calendar({
      ...(from === undefined ? {} : { from: instantOf(from) }),
      ...(hours === undefined ? {} : { hours }),
      ...(zone === undefined ? {} : { zone }),
    });
    return { ...rest, hours: rows.map((row) => ({ ...row, most: [...row.most] })), busiest: [...busiest] };
  },

  async previewDef({ engine }, { params: { name }, query: { count = previewDefault, runLasts, gap, overlap } }) {
    const policies = { ...(gap === undefined ? {} : { gap }), ...(overlap === undefined ? {} : { overlap }) };
    const lasts = runLasts === undefined ? {} : { runLasts: runLasts as Duration };
    const ticks = await engine.preview(name, { count, policies, ...lasts });
    return { items: ticks.map((tick) => ({ ...previewView(tick), schedule: tick.schedule, does: tick.does })) };
  },

  async previewSchedule({ engine }, { body: { schedule: request, count = previewDefault, from, name } }) {
    const schedule = scheduleOf(request);
    const start = from === undefined ? engine.now() : instantOf(from);
    const ticks = preview(schedule, { from: start, count, ...(name === undefined ? {} : { name }) });
    return { words: describeSchedule(schedule), ticks: ticks.map(previewView) };
  },
};

function tickView(n: number, at: number, tick: TickOutcome): Answer<'listTicks'>['items'][number] {
  const { schedule, nominal } = tick;
  const base = { n, at, schedule, nominal, followers: [] };
  if ('run' in tick) {
    const followers = (tick.followers ?? []).map((one) =>
      ('run' in one ? { ...one, skipped: null } : { def: one.def, run: null, skipped: one.skipped }));
    return { ...base, run: tick.run, lateMs: tick.lateMs, skipped: null, to: null, count: null, followers };
  }
  const { skipped, to = null, count = null } = tick;
  return { ...base, run: null, lateMs: null, skipped, to, count };
}
