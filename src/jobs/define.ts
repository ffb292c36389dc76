/** Operations on definitions: declare by code, change by operators, find by name. */
import { applyTogether, insert, type Asker } from '../apply.ts';
import {
  definitionKey, definitionOf, dueOf, planOf, specOf, removedTicks, wakeUp, type Definition, type Spec,
} from '../model/definition.ts';
import type { EventBody } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { create, record, step } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import type { Store } from '../store/store.ts';
import type { Producer } from './new-jobs.ts';
import { originOf } from './draft.ts';
import { checkOverride } from './checks/spec.ts';
import { tickBefore } from './tick.ts';

export interface KnownDefinition extends Definition {
  readonly name: string;
  readonly spec: Spec;
  readonly isEnabled: boolean;
  readonly nextDue: number | null;
  readonly job: Job;
}

/** Stores a definition as the code declares it. An operator's override and whether it is enabled stay. */
export async function declare(
  definer: Producer,
  name: string,
  code: Spec,
  isEnabled: boolean,
  by: string,
): Promise<void> {
  const { store } = definer;
  const known = await find(store, name);
  if (!known) return addDefinition(definer, name, code, isEnabled, by);
  if (sameJson(definitionOf(known).code, code)) return;
  await redefine(definer, name, ({ override }) => ({ code, override }), { by, why: 'the code changed' });
}

/** Operator override of a definition. Survives deploys; null removes it. */
export async function override(
  definer: Producer,
  name: string,
  overrides: Partial<Spec> | null,
  asker: Asker,
): Promise<void> {
  const checked = overrides === null ? null : checkOverride(overrides, definer.store.now());
  const redefineBy: Redefine = ({ code, override: before }) =>
    ({ code, override: checked && { ...before, ...checked } });
  await redefine(definer, name, redefineBy, asker);
}

export async function disable(store: Store, name: string, asker: Asker): Promise<void> {
  await change(store, name, asker, (def) => (def.state === 'pending' ? [{ kind: 'paused' }] : []));
}

/** Enables a definition; ticks that were due meanwhile are recorded as skipped. */
export async function enable(store: Store, name: string, asker: Asker): Promise<void> {
  await change(store, name, asker, (def, now) => {
    if (def.state !== 'held') return [];
    const woken = wakeUp(def, specOf(definitionOf(def)), now);
    return [woken, { kind: 'resumed', due: woken.kind === 'ticked' ? woken.due : now }];
  });
}

/** Ends a definition; its runs stay. */
export async function undefine(store: Store, name: string, asker: Asker): Promise<void> {
  await applyTogether(store, async () => {
    const answer = step(await require(store, name), { do: 'stop', code: 'user' }, { ...asker, now: store.now() });
    return answer instanceof Refusal ? answer : [answer];
  });
}

export async function definition(store: Store, name: string): Promise<KnownDefinition> {
  return known(await require(store, name));
}

export async function definitions(store: Store): Promise<readonly KnownDefinition[]> {
  const pages = pagesOf(store, { kinds: ['def'], standings: ['pending', 'held'] });
  return (await Array.fromAsync(pages)).flat().map(known);
}

function known(job: Job): KnownDefinition {
  const { code, override: overrides } = definitionOf(job);
  const isEnabled = job.state === 'pending';
  const hasNext = isEnabled && job.plan!.schedules.some(({ next }) => next !== null);
  const spec = specOf({ code, override: overrides });
  return { name: job.def!, code, override: overrides, spec, isEnabled, nextDue: hasNext ? job.due : null, job };
}

async function addDefinition(
  { store, ids }: Producer,
  name: string,
  code: Spec,
  isEnabled: boolean,
  by: string,
): Promise<void> {
  const now = store.now();
  const [id] = await ids.take(1);
  const plan = planOf(name, code, now);
  const unique = { key: definitionKey(name) };
  const draft = { kind: 'def', type: code.type, def: name, input: { code, override: null }, unique } as const;
  const origin = { ...originOf(draft, id!, now), parent: null };
  const first = { due: dueOf(plan), priority: 0, plan, ...(isEnabled ? {} : { hold: 'pause' as const }) };
  const [written] = await insert(store, [create(origin, first, { by, now })]);
  // Another instance declared it first, perhaps with another spec.
  if (!written) await declare({ store, ids }, name, code, isEnabled, by);
}

type Redefine = (before: Definition) => Definition;

/** Schedules that stay keep their plan; new ones start from now. Ticks that were due before follow the old spec. */
async function redefine(definer: Producer, name: string, redefineBy: Redefine, asker: Asker): Promise<void> {
  const { store } = definer;
  await applyTogether(store, async () => {
    const def = await require(store, name);
    const now = store.now();
    const [ticked, ...newRuns] = await tickBefore(definer, def, now, { by: asker.by });
    const edited = record(ticked.after!, redefinition(ticked.after!, redefineBy, now), { ...asker, now });
    return [{ ...edited, before: def, events: [...ticked.events, ...edited.events] }, ...newRuns];
  });
}

function redefinition(def: Job, redefineBy: Redefine, now: number): EventBody[] {
  const before = definitionOf(def);
  const after = redefineBy(before);
  const [was, is] = [specOf(before), specOf(after)];
  const plan = planOf(def.def!, is, now, { spec: was, plan: def.plan! });
  const ticks = removedTicks(def, was, is, now);
  const skipped: EventBody[] = ticks.length === 0 ? [] : [{ kind: 'ticked', ticks, plan: def.plan!, due: def.due }];
  return [...skipped, { kind: 'edited', edit: { type: is.type, input: JSON.stringify(after), plan, due: dueOf(plan) } }];
}

async function change(
  store: Store,
  name: string,
  asker: Asker,
  decide: (def: Job, now: number) => EventBody[],
): Promise<void> {
  await applyTogether(store, async () => {
    const def = await require(store, name);
    const now = store.now();
    return [record(def, decide(def, now), { ...asker, now })];
  });
}

async function find(store: Store, name: string): Promise<Job | undefined> {
  const key = definitionKey(name);
  const id = (await store.holders([key])).get(key);
  return id === undefined ? undefined : (await store.load([id]))[0];
}

async function require(store: Store, name: string): Promise<Job> {
  const def = await find(store, name);
  if (def) return def;
  throw new Refusal('unknown.definition', `there is no definition ${name}`, { name });
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
