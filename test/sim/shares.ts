// The types whose keys or runs take turns, and an oracle of the turns: it reads the commits in their order, and checks each claim.
import type { Draft } from '../../src/jobs/draft.ts';
import { parseGate } from '../../src/model/gate.ts';
import type { Job } from '../../src/model/job.ts';
import { shareUse, type FairShare } from '../../src/model/share.ts';
import { violation, type Violation } from '../../src/verify.ts';
import type { Goals } from './goals.ts';
import type { RandomStream } from './random-streams.ts';

/** The type with fairness, in the simulations that draw it. Few of its runs are running at a time, so that others wait. */
export const sharedType = 'shared';
export const sharedConcurrency = 3;

const weights = { large: 1, small: 1, vip: 2, 'a single run': 1 } as const;

/** Many runs of one key, and after them few of others. */
export function drawShared(random: RandomStream): readonly Draft[] {
  const keys = [
    ...Array<keyof typeof weights>(random.integer(4, 16)).fill('large'),
    ...Array<keyof typeof weights>(random.integer(0, 6)).fill('vip'),
    ...(['small', 'a single run'] as const).filter(() => random.isTrue(0.6)),
  ];
  return keys.map((key) => ({
    type: sharedType,
    limitUses: [{ name: shareUse, key, cost: weights[key] }],
    policy: { attemptsMax: 3, timeoutMs: 120_000 },
  }));
}

/** The type whose runs take turns with their tasks, in the simulations that draw it. */
export const crowdType = 'crowd';
export const crowdConcurrency = 2;

/** A run with many tasks, and after it runs with few. */
export const drawCrowd = (random: RandomStream): readonly Draft[] =>
  [random.integer(8, 20), ...Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 3))].map((tasks) => ({
    type: crowdType, phase: 'prepare', inputText: JSON.stringify({ tasks }), policy: { attemptsMax: 3, timeoutMs: 120_000 },
  }));

/** The waiting jobs of a key: when each is due, and how many jobs of other keys have started since the key could. */
interface WaitingKey {
  /** The run of the tasks; null: the key is not one of tasks. */
  readonly run: number | null;
  readonly dues: Map<number, number>;
  readonly passedBy: Map<string, number>;
}

/** All engines of a simulation share one store, and so its turns. */
export class ShareOracle {
  readonly #goals: Goals;
  readonly #jobOf: (id: number) => Job | undefined;
  /** By group, as keys take turns among jobs of the same kind, type and priority, and by key. */
  readonly #groups = new Map<string, Map<string, WaitingKey>>();

  constructor(goals: Goals, jobOf: (id: number) => Job | undefined) {
    this.#goals = goals;
    this.#jobOf = jobOf;
  }

  /** Call with each job that is written or deleted. */
  changed(before: Job | undefined, after: Job | null, now: number): void {
    if (before) this.#leave(before, now);
    if (after) this.#join(after);
  }

  /** S47: a key that can start is passed over by at most one turn of each other key. Call before the claim is stored. */
  claimed(job: Job, now: number): Violation[] {
    const share = shareOf(job);
    if (share === null) return [];
    const found: Violation[] = [];
    for (const [key, waiting] of this.#groupOf(job)) {
      if (key === share.key) waiting.passedBy.clear();
      else if (this.#canStart(waiting, now)) found.push(...this.#pass(job, share, key, waiting));
    }
    return found;
  }

  /** Tasks of a cancelled run do not start: they are cancelled, too. */
  #canStart({ run, dues }: WaitingKey, now: number): boolean {
    return dues.values().some((due) => due <= now) && (run === null || !this.#jobOf(run)?.cancel);
  }

  #pass({ id, due, kind }: Job, { key, weight }: FairShare, passed: string, { dues, passedBy }: WaitingKey): Violation[] {
    const count = (passedBy.get(key) ?? 0) + 1;
    passedBy.set(key, count);
    if (dues.values().some((each) => each < due)) {
      this.#goals.reach(kind === 'task' ? 'turn of a run before an older task of another run' : 'turn before an older job of another key');
    }
    if (count <= weight) return [];
    return [violation('S47', id, `${count} jobs of key ${key} started while key ${passed} could: its weight is ${weight}`)];
  }

  #join(job: Job): void {
    if (!isWaiting(job)) return;
    const { key } = shareOf(job)!;
    const group = this.#groupOf(job);
    const waiting = group.get(key) ?? { run: job.kind === 'task' ? job.parent : null, dues: new Map(), passedBy: new Map() };
    group.set(key, waiting);
    waiting.dues.set(job.id, job.due);
  }

  /** A key without a job that can start has no turn: what passes it then does not count. */
  #leave(job: Job, now: number): void {
    if (!isWaiting(job)) return;
    const waiting = this.#groupOf(job).get(shareOf(job)!.key);
    waiting?.dues.delete(job.id);
    if (waiting && !this.#canStart(waiting, now)) waiting.passedBy.clear();
  }

  #groupOf({ kind, type, priority }: Job): Map<string, WaitingKey> {
    const name = `${priority} ${kind} ${type}`;
    const group = this.#groups.get(name) ?? new Map<string, WaitingKey>();
    this.#groups.set(name, group);
    return group;
  }
}

const isWaiting = (job: Job): boolean => job.state === 'pending' && !job.admitted && shareOf(job) !== null;

/** The share of a task that takes turns with its run is known without its gate. */
function shareOf({ type, kind, parent, gate }: Job): FairShare | null {
  if (type === crowdType) return kind === 'task' ? { key: `run ${parent}`, weight: 1 } : null;
  return gate === null || !gate.includes('@') ? null : (parseGate(gate).share ?? null);
}
