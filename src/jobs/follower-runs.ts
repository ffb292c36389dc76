/**
 * The runs of definitions that follow a ticked definition. They are created in one commit with the run of the tick, held,
 * with edges to the runs that they follow. From then on they are followers like any other: whoever ends the last run that
 * they wait for continues them, and settling makes good a crash in between.
 */
import type { Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { followersLast, followersOf } from '../model/def-graph.ts';
import { definitionOf, specOf, type CalledRun, type Spec } from '../model/definition.ts';
import type { FollowerOutcome, FollowerSkip } from '../model/event.ts';
import { followingRule, type Edge, type Following, type Link } from '../model/following.ts';
import type { Job } from '../model/job.ts';
import { create } from '../model/machine.ts';
import { isRefusal } from '../refusal.ts';
import type { FlowRuns, Writer } from '../store/store.ts';
import { draftOf } from './definition-draft.ts';
import { definitionJobs } from '../store/definition-jobs.ts';
import { draftRefusalOf, firstStateOf, originOf, type Draft } from './draft.ts';
import { changesOfHook, hookAnswer } from './hooked-ticks.ts';
import type { Producer } from './new-jobs.ts';
import type { TickKnowledge } from './tick-knowledge.ts';

/** A definition that follows the ticked one, directly or through others. */
interface FollowingDef {
  readonly name: string;
  readonly def: Job;
  readonly spec: Spec;
  /** Why it gets no run, whatever the runs that it follows are; null: it can get one. */
  readonly skipped: FollowerSkip | null;
}

/** The followers of a definition, each after those that it follows. */
export type FollowerPlan = readonly FollowingDef[];

/** What a commit writes beside the changes for runs that follow others. */
export interface NewFollowing {
  readonly edges: readonly Edge[];
  readonly flows: readonly FlowRuns[];
}

/** Reads the definitions that follow this one, directly or through others. */
export async function followerPlan(store: Writer, def: Job, knowledge: TickKnowledge): Promise<FollowerPlan> {
  const jobs = await below(store, def);
  if (jobs.size === 0) return [];
  const { typesOf, undeclaredOf } = knowledge;
  const definitions = new Map([...jobs].map(([name, job]) => [name, definitionOf(job)]));
  const types = await typesOf([...new Set([...jobs.values()].map(({ type }) => type))]);
  const deployed = [...definitions].map(([name, { build }]) => ({ name, ...(build === undefined ? {} : { build }) }));
  const undeclared = (await undeclaredOf?.(deployed)) ?? new Set<string>();
  const skipOf = (name: string, job: Job): FollowerSkip | null =>
    (job.state !== 'pending' ? 'disabled' : undeclared.has(name) ? 'undeclared' : null);
  const all = new Map([...jobs].map(([name, job]): [string, FollowingDef] => {
    const spec = specOf(definitions.get(name)!, types.get(job.type) ?? null);
    return [name, { name, def: job, spec, skipped: skipOf(name, job) }];
  }));
  const order = followersLast(new Map([...all].map(([name, { spec }]) => [name, spec.after ?? []])));
  return (order ?? []).map((name) => all.get(name)!);
}

async function below(store: Writer, def: Job): Promise<ReadonlyMap<string, Job>> {
  const found = new Map<string, Job>();
  for (let names = followersOf(def); names.length > 0; ) {
    const fresh = await definitionJobs(store, names.filter((name) => !found.has(name)));
    for (const [name, job] of fresh) found.set(name, job);
    names = [...new Set([...fresh.values()].flatMap(followersOf))];
  }
  return found;
}

export interface FollowerRuns {
  readonly outcomes: readonly FollowerOutcome[];
  readonly changes: readonly Change[];
  readonly edges: readonly Edge[];
}

/** Where the followers of one run of a tick belong. */
export interface FollowedTick {
  readonly def: Job;
  readonly run: CalledRun;
  readonly now: number;
  readonly asker: Asker;
}

/** Drafts the runs that follow one run of a tick; nothing is stored. */
export async function followerRuns(
  { ids, creating = null }: Pick<Producer, 'ids' | 'creating'>,
  plan: FollowerPlan,
  tick: FollowedTick,
): Promise<FollowerRuns> {
  const { def, run, now, asker } = tick;
  const numbers = await ids.take(plan.length);
  const runs = new Map([[def.def!, run.id]]);
  const drafts: { readonly id: number; readonly draft: Draft; readonly spec: Spec }[] = [];
  const outcomes: FollowerOutcome[] = [];
  for (const [index, follower] of plan.entries()) {
    const { name, spec } = follower;
    const given = await draftOrSkip(follower, runs, creating, tick);
    if (typeof given === 'string') {
      outcomes.push({ def: name, skipped: given });
      continue;
    }
    const id = numbers[index]!;
    drafts.push({ id, draft: given, spec });
    runs.set(name, id);
    outcomes.push({ def: name, run: id });
  }
  const edges = drafts.flatMap(({ id, spec }) => spec.after!.map((name): Edge =>
    ({ follower: id, followed: runs.get(name)!, outcome: null, links: linksTo(name, spec), result: null })));
  const followed = new Set(edges.map((edge) => edge.followed));
  const changes = drafts.map(({ id, draft, spec }) => {
    const { priority, phase } = firstStateOf(draft, now);
    const follows = followingOf(spec);
    return create({ ...originOf(draft, id, now), parent: null, follows }, {
      due: Math.min(run.due, now), priority, hold: 'runs',
      ...(phase === undefined ? {} : { phase }),
      ...(followed.has(id) ? { isFollowed: true } : {}),
    }, { ...asker, now });
  });
  return { outcomes, changes, edges };
}

const linksTo = (def: string, { links = [] }: Spec): readonly Link[] =>
  links.filter((link) => link.def === def).map(({ from, to }) => ({ from, to }));

const followingOf = ({ on, afterFailure, links = [] }: Spec): Following =>
  ({ ...followingRule(on, afterFailure), ...(links.length === 0 ? {} : { hasLinks: true }) });

async function draftOrSkip(
  { name, def: own, spec, skipped }: FollowingDef,
  runs: ReadonlyMap<string, number>,
  creating: Producer['creating'],
  { def, run, now, asker }: FollowedTick,
): Promise<Draft | FollowerSkip> {
  if (skipped !== null) return skipped;
  if (!spec.after!.every((one) => runs.has(one))) return 'predecessor';
  const answer = creating == null ? null : await hookAnswer(creating, own, spec, run, asker.by);
  if (isRefusal(answer)) return 'refused';
  const { schedule, nominal } = run;
  const tick = { def: def.id, schedule, nominal, isAwaited: false };
  const draft = { ...draftOf(name, spec), ...(answer === null ? {} : changesOfHook(spec, answer)), tick };
  return draftRefusalOf(draft, now) === null ? draft : 'refused';
}
