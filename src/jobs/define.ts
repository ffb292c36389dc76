/** Operations on definitions: declare by code, change by operators, find by name. */
import { applyTogether, insert, type Asker } from '../apply.ts';
import {
  definitionKey, definitionOf, dueOf, isFollower, planOf, specOf, removedTicks, wakeUp, type Definition, type Spec,
} from '../model/definition.ts';
import type { EventBody } from '../model/event.ts';
import type { Change } from '../model/change.ts';
import type { Job, Plan } from '../model/job.ts';
import { create, record, step, type Asking } from '../model/machine.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import type { Store } from '../store/store.ts';
import type { Producer } from './new-jobs.ts';
import { linked } from './def-followers.ts';
import { alsoRecord } from './joined-changes.ts';
import { definitionJobs } from '../store/definition-jobs.ts';
import { originOf } from './draft.ts';
import { checkOverride, mergeOverride, type OverridePatch } from './checks/spec.ts';
import { checkRunLimits, tickBefore, type Ticked } from './tick.ts';

export interface KnownDefinition extends Definition {
  readonly name: string;
  readonly spec: Spec;
  readonly isEnabled: boolean;
  readonly nextDue: number | null;
  readonly job: Job;
}

export interface Declaration {
  readonly name: string;
  readonly spec: Spec;
  readonly override?: Partial<Spec> | null;
  readonly enabled: boolean;
  /** The build of the program; null: an operator declares the definition, not code. */
  readonly build: string | null;
  /**
   * Whether another living build declares a definition of this name. If so, the job type of the definition cannot be
   * changed.
   */
  readonly isShared?: boolean;
}

/**
 * Stores a definition as the code declares it. An operator's override stays. A disabled definition stays disabled,
 * except if it was disabled because no living build declared it.
 */
export async function declare(definer: Producer, declaration: Declaration, by: string): Promise<void> {
  const { name } = declaration;
  const known = await find(definer.store, name);
  if (!known) return addDefinition(definer, declaration, by);
  const before = definitionOf(known);
  const redefineBy = redeclaration(declaration, before);
  if (redefineBy === null) return;
  await redefine(definer, name, redefineBy, { by, why: 'the code changed' });
  if (before.isAbandoned) await enable(definer.store, name, { by, why: 'a living build declares it again' });
}

/** Returns how a stored definition becomes as declared; null: it is already. */
export function redeclaration(declaration: Declaration, before: Definition): Redefine | null {
  const { name, spec: code, build } = declaration;
  if (before.code.type !== code.type) refuseOtherType(name, before, declaration);
  if (isDeclared(before, declaration)) return null;
  checkRunLimits(name, code);
  return ({ override: overrides }) => ({ code, override: overrides, ...(build === null ? {} : { build }) });
}

/** Whether the store already has the definition as declared, so that there is nothing to write. */
const isDeclared = ({ code, build, isAbandoned }: Definition, declaration: Declaration): boolean =>
  sameJson(code, declaration.spec) && (build !== undefined || declaration.build === null) && isAbandoned === undefined;

export async function changedDeclarations(
  store: Store,
  declarations: readonly Declaration[],
): Promise<readonly Declaration[]> {
  const stored = await definitionsNamed(store, declarations.map(({ name }) => name));
  return declarations.filter((declaration) => {
    const before = stored.get(declaration.name);
    return before === undefined || !isDeclared(before, declaration);
  });
}

/** Returns the definitions with these names; names without a definition are absent. */
export async function definitionsNamed(
  store: Store,
  names: readonly string[],
): Promise<ReadonlyMap<string, KnownDefinition>> {
  return new Map([...(await definitionJobs(store, names))].map(([name, job]) => [name, known(job)]));
}

function refuseOtherType(name: string, { code, build }: Definition, { spec, isShared = false }: Declaration): void {
  if (build !== undefined && !isShared) return;
  const whose = build === undefined ? 'was created with' : 'is declared by another running program with';
  const message =
    `definition ${name} ${whose} the job type ${code.type}, not ${spec.type}: give one of them another name`;
  throw new Refusal('taken.key', message, { name, type: code.type });
}

/**
 * Merges an operator's settings into the override of a definition; null removes the override. An override survives
 * deploys.
 */
export async function override(
  definer: Producer,
  name: string,
  overrides: OverridePatch | null,
  asker: Asker,
): Promise<void> {
  const { store } = definer;
  const redefineBy: Redefine = ({ override: before, ...rest }) =>
    ({ ...rest, override: overrides === null ? null : checkOverride(mergeOverride(before, overrides), store.now()) });
  await redefine(definer, name, redefineBy, asker);
}

export async function disable(store: Store, name: string, asker: Asker): Promise<void> {
  await change(store, name, asker, disabling);
}

/** Enables a definition; ticks that were due while it was disabled are recorded as skipped. */
export async function enable(store: Store, name: string, asker: Asker): Promise<void> {
  await change(store, name, asker, enabling);
}

export const disabling = (def: Job): EventBody[] => (def.state === 'pending' ? [{ kind: 'paused' }] : []);

export function enabling(def: Job, now: number): EventBody[] {
  if (def.state !== 'held') return [];
  const woken = wakeUp(def, specOf(definitionOf(def)), now);
  return [woken, { kind: 'resumed', due: woken.kind === 'ticked' ? woken.due : now }];
}

/** Ends a definition, so that it creates no more runs; existing runs stay. */
export async function undefine(store: Store, name: string, asker: Asker): Promise<void> {
  await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const answer = ending(await require(store, name), asking);
    return answer instanceof Refusal ? answer : linkedChanges(store, answer, asking);
  });
}

export const ending = (def: Job, asking: Asking): Change | Refusal => step(def, { do: 'stop', code: 'user' }, asking);

export async function definition(store: Store, name: string): Promise<KnownDefinition> {
  return known(await require(store, name));
}

export async function definitions(store: Store): Promise<readonly KnownDefinition[]> {
  const pages = pagesOf(store, { kinds: ['def'], standings: ['pending', 'held'] });
  return (await Array.fromAsync(pages)).flat().map(known);
}

export function known(job: Job): KnownDefinition {
  const definition = definitionOf(job);
  const isEnabled = job.state === 'pending';
  const hasNext = isEnabled && job.plan!.schedules.some(({ next }) => next !== null);
  return { name: job.def!, ...definition, spec: specOf(definition), isEnabled, nextDue: hasNext ? job.due : null, job };
}

async function addDefinition({ store, ids }: Producer, declaration: Declaration, by: string): Promise<void> {
  const [id] = await ids.take(1);
  const isWritten = await addLinked(store, () => newDefinition(id!, declaration, { by, now: store.now() }), by);
  // Not written: another instance has just declared this definition, perhaps with another spec. `declare` compares the
  // two specs.
  if (!isWritten) await declare({ store, ids }, declaration, by);
}

async function addLinked(store: Store, add: () => Change, by: string): Promise<boolean> {
  const alone = add();
  if (!isFollower(known(alone.after!).spec)) return (await insert(store, [alone]))[0]!;
  const key = definitionKey(alone.after!.def!);
  if ((await store.jobsByKey([key])).size > 0) return false;
  try {
    await applyTogether(store, async () => linkedChanges(store, add(), { by, now: store.now() }));
    return true;
  } catch (error) {
    if (isRefusal(error) && error.code === 'taken.key' && error.detail['key'] === key) return false;
    throw error;
  }
}

/** Returns the change of a definition, then those of the definitions that it follows, or followed before. */
async function linkedChanges(store: Store, change: Change, asking: Asking): Promise<readonly Change[] | Refusal> {
  const answer = await linked(store, [change], asking);
  return answer instanceof Refusal ? answer : [...answer.defs, ...answer.others];
}

/** Returns a new definition as a change that is not stored yet. With `planned`, it keeps the plan of that definition. */
export function newDefinition(
  id: number,
  { name, spec: code, override: overrides = null, enabled, build }: Declaration,
  asking: Asking,
  planned?: { readonly spec: Spec; readonly plan: Plan },
): Change {
  const spec = specOf({ code, override: overrides });
  checkRunLimits(name, spec);
  const plan = planOf(name, spec, asking.now, planned);
  const input = { code, override: overrides, ...(build === null ? {} : { build }) };
  const draft = { kind: 'def', type: code.type, def: name, input, unique: { key: definitionKey(name) } } as const;
  const origin = { ...originOf(draft, id, asking.now), parent: null };
  const first = { due: dueOf(plan), priority: 0, plan, ...(enabled ? {} : { hold: 'pause' as const }) };
  return create(origin, first, asking);
}

export type Redefine = (before: Definition) => Definition;

/**
 * Changes the spec of a definition. Ticks that are already due are handled by the old spec first. Schedules that are in
 * both specs keep their plan; new schedules start from now.
 */
async function redefine(definer: Producer, name: string, redefineBy: Redefine, asker: Asker): Promise<void> {
  const { store } = definer;
  let following: Ticked['following'] = {};
  await applyTogether(store, async () => {
    const def = await require(store, name);
    const now = store.now();
    const before = await tickBefore(definer, def, now, { by: asker.by });
    const [ticked, ...newRuns] = before.changes;
    following = before.following;
    const edited = alsoRecord(ticked!, (job) => redefinition(job, redefineBy, now), { ...asker, now });
    const changes = await linkedChanges(store, edited, { ...asker, now });
    return changes instanceof Refusal ? changes : [...changes, ...newRuns];
  }, () => following);
}

export function redefinition(def: Job, redefineBy: Redefine, now: number): EventBody[] {
  const before = definitionOf(def);
  // The declaration of a definition does not know its followers.
  const after = { ...redefineBy(before), ...(before.followers === undefined ? {} : { followers: before.followers }) };
  const [was, is] = [specOf(before), specOf(after)];
  const plan = planOf(def.def!, is, now, { spec: was, plan: def.plan! });
  const ticks = removedTicks(def, was, is, now);
  const skipped: EventBody[] = ticks.length === 0 ? [] : [{ kind: 'ticked', ticks, plan: def.plan!, due: def.due }];
  const edit = { type: is.type, input: JSON.stringify(after), plan, due: dueOf(plan) };
  return [...skipped, { kind: 'edited', edit }];
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
  const id = (await store.jobsByKey([key])).get(key);
  return id === undefined ? undefined : (await store.load([id]))[0];
}

async function require(store: Store, name: string): Promise<Job> {
  const def = await find(store, name);
  if (def) return def;
  throw new Refusal('unknown.definition', `there is no definition ${name}`, { name });
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
