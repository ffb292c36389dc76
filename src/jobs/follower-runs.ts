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
import type { CreationHook } from './creation-hook.ts';
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
  { def, run, now, asker }: FollowedTick,
): Promise<FollowerRuns> {
  const numbers = await ids.take(plan.length);
  const { schedule, nominal } = run;
  const followers = await followerDrafts(plan, { def, nominal, now, by: asker.by, creating });
  const all = followers.map((follower, index) => ({ ...follower, id: numbers[index]! }));
  const drafts = all.flatMap(({ draft, ...rest }) => (typeof draft === 'string' ? [] : [{ ...rest, draft }]));
  const runs = new Map([[def.def!, run.id], ...drafts.map(({ name, id }) => [name, id] as const)]);
  const edges = drafts.flatMap(({ id, spec }) => spec.after!.map((name): Edge =>
    ({ follower: id, followed: runs.get(name)!, outcome: null, links: linksTo(name, spec), result: null })));
  const followed = new Set(edges.map((edge) => edge.followed));
  const tick = { def: def.id, schedule, nominal, isAwaited: false };
  const changes = drafts.map(({ id, draft, spec }) => {
    const { priority, phase } = firstStateOf(draft, now);
    return create({ ...originOf({ ...draft, tick }, id, now), parent: null, follows: followingOf(spec) }, {
      due: Math.min(run.due, now), priority, hold: 'runs',
      ...(phase === undefined ? {} : { phase }),
      ...(followed.has(id) ? { isFollowed: true } : {}),
    }, { ...asker, now });
  });
  const outcomes = all.map(({ name, id, draft }): FollowerOutcome =>
    (typeof draft === 'string' ? { def: name, skipped: draft } : { def: name, run: id }));
  return { outcomes, changes, edges };
}

/** The draft of the run of a follower, or why it gets none. */
export interface FollowerDraft {
  readonly name: string;
  readonly spec: Spec;
  readonly draft: Draft | FollowerSkip;
}

/** The run that is followed. */
export interface FollowedStart {
  readonly def: Job;
  /** The time of its tick; null: somebody starts it by hand. */
  readonly nominal: number | null;
  readonly now: number;
  readonly by: string;
  /** Called for each run; null: there is no middleware around creations. */
  readonly creating: CreationHook | null;
}

/** Drafts the runs of followers, in the order of the plan, without a tick. */
export async function followerDrafts(plan: FollowerPlan, start: FollowedStart): Promise<readonly FollowerDraft[]> {
  const running = new Set([start.def.def!]);
  const drafts: FollowerDraft[] = [];
  for (const follower of plan) {
    const { name, spec } = follower;
    const draft = await draftOrSkip(follower, running, start);
    if (typeof draft !== 'string') running.add(name);
    drafts.push({ name, spec, draft });
  }
  return drafts;
}

/** The parts of the result of a followed definition that become parts of the input. */
export const linksTo = (def: string, { links = [] }: Spec): readonly Link[] =>
  links.filter((link) => link.def === def).map(({ from, to }) => ({ from, to }));

export const followingOf = ({ on, afterFailure, links = [] }: Spec): Following =>
  ({ ...followingRule(on, afterFailure), ...(links.length === 0 ? {} : { hasLinks: true }) });

async function draftOrSkip(
  { name, def: own, spec, skipped }: FollowingDef,
  running: ReadonlySet<string>,
  { nominal, now, by, creating }: FollowedStart,
): Promise<Draft | FollowerSkip> {
  if (skipped !== null) return skipped;
  if (!spec.after!.every((one) => running.has(one))) return 'predecessor';
  // An override of `after` has outlived a deploy that changed the parameters.
  if (spec.links?.some((link) => !spec.after!.includes(link.def))) return 'refused';
  const answer = creating === null ? null : await hookAnswer(creating, own, spec, { nominal }, by);
  if (isRefusal(answer)) return 'refused';
  const draft = { ...draftOf(name, spec), ...(answer === null ? {} : changesOfHook(spec, answer)) };
  return draftRefusalOf(draft, now) === null ? draft : 'refused';
}
