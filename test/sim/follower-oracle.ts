// An oracle of definitions that follow definitions: it reads the commits in their order. Each run of a tick has, in the
// same commit, one run of each definition that follows, and these start after the runs that they follow.
import type { Change } from '../../src/model/change.ts';
import type { Event, FollowerOutcome, TickOutcome } from '../../src/model/event.ts';
import type { Job } from '../../src/model/job.ts';
import type { Fate } from '../../src/model/state.ts';
import { violation, type Violation } from '../../src/verify.ts';
import type { Goals } from './goals.ts';

type RunOfTick = Extract<TickOutcome, { run: number }>;
type Rule = 'succeeded' | 'failed' | 'ended';

/** A definition as one commit has stored it. Overrides are applied here anew, not as the source does. */
interface StoredDef {
  readonly commit: number;
  readonly isThere: boolean;
  readonly isEnabled: boolean;
  readonly isDeclared: boolean;
  readonly after: readonly string[];
  readonly on: Rule;
}

/** A run of a follower that a tick has created. */
interface FollowerRun {
  readonly on: Rule;
  readonly followed: readonly number[];
  isReleased: boolean;
  /** An operator has reopened or released it: it may start without the runs that it follows. */
  isOverridden: boolean;
}

/** The reason with which a run is cancelled that its rule does not let start. */
const notAsRequired = 'the runs that it follows did not end as it requires';

export class FollowerOracle {
  readonly #goals: Goals;
  /** What was stored of each definition, by name, oldest first. */
  readonly #defs = new Map<string, StoredDef[]>();
  readonly #followers = new Map<number, FollowerRun>();
  /** How the runs ended that others follow, even if they were deleted since; null: open. */
  readonly #fates = new Map<number, Fate | null>();
  #commits = 0;

  constructor(goals: Goals) {
    this.#goals = goals;
  }

  /** Call with the changes of each commit. */
  committed(changes: readonly Change[]): Violation[] {
    this.#commits += 1;
    const found = [...this.#checkTicks(changes), ...changes.flatMap((change) => this.#checkRun(change))];
    for (const { before, after } of changes) {
      const job = (after ?? before)!;
      if (job.kind === 'def') this.#define(job.def!, after);
      if (after && this.#fates.has(job.id)) this.#fates.set(job.id, fateOf(after));
    }
    return found;
  }

  #define(name: string, job: Job | null): void {
    const all = this.#defs.get(name) ?? [];
    const stored = storedDef(this.#commits, job);
    const wasDeleted = all.length > 0 && !all.at(-1)!.isThere;
    if (wasDeleted && stored.isThere && stored.after.length > 0) this.#goals.reach('follower defined again');
    this.#defs.set(name, [...all, stored]);
  }

  #checkTicks(changes: readonly Change[]): Violation[] {
    const created = new Map(changes.flatMap(({ before, after }) => (before === null && after ? [[after.id, after] as const] : [])));
    const found: Violation[] = [];
    const named = new Set<number>();
    for (const { before, events } of changes) {
      for (const tick of events.flatMap((event) => (event.kind === 'ticked' ? event.ticks : []))) {
        if (!('run' in tick)) continue;
        const wrong = this.#wrongIn(before!, tick, created);
        found.push(...wrong.map((sentence) => violation('S48', before!.id, `the tick of ${before!.def} with run ${tick.run}: ${sentence}`)));
        for (const one of tick.followers ?? []) if ('run' in one) named.add(one.run);
      }
    }
    const stray = [...created.values()].filter(({ id, tick, follows }) => tick !== null && follows !== null && !named.has(id));
    return [...found, ...stray.map(({ id, def }) => violation('S48', id, `run ${id} of the follower ${def} was created without its tick`))];
  }

  #wrongIn(def: Job, tick: RunOfTick, created: ReadonlyMap<number, Job>): readonly string[] {
    const { run, followers = [] } = tick;
    const [expected, given] = [this.#namesBelow(def.def!), followers.map((one) => one.def).sort()];
    if (expected.join() !== given.join()) return [`it has outcomes of [${given.join()}], and [${expected.join()}] follow it`];
    if (given.length > 0) this.#fates.set(run, null);
    const runs = new Map([[def.def!, run], ...followers.flatMap((one) => ('run' in one ? [[one.def, one.run] as const] : []))]);
    return followers.flatMap((one) =>
      ('run' in one ? this.#wrongRun(def, tick, one, created.get(one.run), runs) : this.#wrongSkip(def, one, runs)));
  }

  #wrongRun(
    def: Job,
    { nominal }: RunOfTick,
    { def: name, run }: Extract<FollowerOutcome, { run: number }>,
    created: Job | undefined,
    runs: ReadonlyMap<string, number>,
  ): readonly string[] {
    if (created === undefined) return [`run ${run} of ${name} was not created with it`];
    if (created.def !== name || created.tick?.def !== def.id || created.tick.nominal !== nominal) {
      return [`run ${run} is of ${created.def} and of the tick ${created.tick?.nominal}`];
    }
    const on = created.follows!.on;
    if (!this.#seenBy(def, name).some((seen) => seen.isEnabled && seen.on === on)) return [`${name} was never enabled and on ${on}`];
    const followed = this.#current(name)!.after.map((one) => runs.get(one)!);
    if (followed.includes(undefined!)) return [`run ${run} of ${name} follows a definition without a run`];
    this.#followers.set(run, { on, followed, isReleased: false, isOverridden: false });
    this.#fates.set(run, null);
    return [];
  }

  #wrongSkip(
    def: Job,
    { def: name, skipped }: Extract<FollowerOutcome, { skipped: unknown }>,
    runs: ReadonlyMap<string, number>,
  ): readonly string[] {
    const seen = this.#seenBy(def, name);
    const isRight =
      (skipped === 'disabled' && seen.some(({ isEnabled }) => !isEnabled)) ||
      (skipped === 'undeclared' && seen.some(({ isDeclared }) => isDeclared)) ||
      (skipped === 'predecessor' && this.#current(name)!.after.some((one) => !runs.has(one)));
    return isRight ? [] : [`${name} was skipped as ${skipped}, and it was not`];
  }

  /** S41: the run starts after the runs that it follows have ended as it requires. */
  #checkRun({ before, after, events }: Change): Violation[] {
    const run = before && this.#followers.get(before.id);
    if (!run || after === null) return [];
    return events.flatMap((event) => this.#wrongStep(run, event)).map((sentence) =>
      violation('S41', before.id, `run ${before.id} of the follower ${before.def} ${sentence}`));
  }

  #wrongStep(run: FollowerRun, event: Event): readonly string[] {
    const ends = run.followed.map((id) => this.#fates.get(id) ?? 'open');
    const isEnded = !ends.includes('open');
    const isAsRequired = isEnded && (run.on === 'ended' || (run.on === 'failed') === ends.some((end) => end !== 'succeeded'));
    const fates = run.followed.map((id, index) => `${id} ${ends[index]}`).join();
    switch (event.kind) {
      case 'reopened':
      case 'resumed':
        run.isOverridden = true;
        return [];
      case 'proceeded':
        run.isReleased = true;
        return isAsRequired || run.isOverridden ? [] : [`was released on ${run.on} after ${fates}`];
      case 'claimed':
        return run.isReleased || run.isOverridden ? [] : ['started without the runs that it follows'];
      case 'cancelled':
        if (event.why !== notAsRequired) return [];
        this.#goals.reach('run of a follower cancelled by its rule');
        return (isEnded && !isAsRequired) || run.isOverridden ? [] : [`was cancelled on ${run.on} after ${fates}`];
      case 'succeeded':
        this.#goals.reach('run of a follower succeeded');
        return [];
      default:
        return [];
    }
  }

  /** The definitions that follow this one, directly or through others, in the order of their names. */
  #namesBelow(name: string): readonly string[] {
    const found = new Set([name]);
    for (const above of found) {
      for (const [each, all] of this.#defs) if (all.at(-1)!.isThere && all.at(-1)!.after.includes(above)) found.add(each);
    }
    found.delete(name);
    return [...found].sort();
  }

  #current(name: string): StoredDef | undefined {
    return this.#defs.get(name)?.at(-1);
  }

  /**
   * What a tick may have read of a follower. The tick is written only if its definition is still as it was read, so it
   * read the follower after the last commit of that. Who follows whom is not read late: such a change writes both.
   */
  #seenBy({ def }: Job, name: string): readonly StoredDef[] {
    const readAfter = this.#current(def!)!.commit;
    const all = this.#defs.get(name)!;
    return all.filter((_, index) => index === all.length - 1 || all[index + 1]!.commit > readAfter);
  }
}

const fateOf = (job: Job): Fate | null => (job.state === 'ended' ? job.fate : null);

function storedDef(commit: number, job: Job | null): StoredDef {
  if (job === null || job.state === 'ended') {
    return { commit, isThere: false, isEnabled: false, isDeclared: false, after: [], on: 'succeeded' };
  }
  const { code, override, build } = JSON.parse(job.input) as StoredInput;
  return {
    commit, isThere: true, isEnabled: job.state === 'pending', isDeclared: build !== undefined,
    after: override?.after ?? code.after ?? [],
    on: ruleOf(code, override),
  };
}

/** Of the two settings that make a rule, one that is overridden replaces the other of the code. */
function ruleOf(code: StoredFollowing, override: StoredFollowing | null): Rule {
  if (override?.on !== undefined) return override.on;
  const afterFailure = override?.afterFailure ?? code.afterFailure;
  if (afterFailure !== undefined) return afterFailure === 'run' ? 'ended' : 'succeeded';
  return code.on ?? 'succeeded';
}

interface StoredFollowing {
  readonly after?: readonly string[];
  readonly on?: Rule;
  readonly afterFailure?: string;
}

interface StoredInput {
  readonly code: StoredFollowing;
  readonly override: StoredFollowing | null;
  readonly build?: string;
}
