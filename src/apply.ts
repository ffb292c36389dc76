/**
 * Apply: load, decide, commit, and again when someone came in between. The only place where the machine and the store
 * meet: whatever changes a job goes through here.
 */
import type { Change } from './model/change.ts';
import type { Command } from './model/command.ts';
import { isOpen, type Job } from './model/job.ts';
import { step, steps, type Asking } from './model/machine.ts';
import { neededKey } from './model/unique-key.ts';
import { Refusal } from './refusal.ts';
import type { Batch, ClaimRequest, Store, Writer } from './store/store.ts';

/** One command for one job: by its id, or for the job as the asker last read it, which saves a load. */
export interface CommandRequest {
  readonly job: number | Job;
  readonly command: Command;
}

export type CommandAnswer = Change | Refusal;

export const isChange = (answer: CommandAnswer): answer is Change => !(answer instanceof Refusal);

/** Who asks and why; the time is the store's. */
export type Asker = Omit<Asking, 'now'>;

/** Enough for any honest contention; who meets more has found a loop of two that undo each other. */
const triesMax = 50;

/** Each request on its own: what one is refused, or loses to another, does not touch the rest. */
export async function applyEach(
  store: Writer,
  requests: readonly CommandRequest[],
  asker: Asker,
): Promise<readonly CommandAnswer[]> {
  const answers: CommandAnswer[] = Array<CommandAnswer>(requests.length);
  let open = requests.map((_, index) => index);
  for (let tries = 0; open.length > 0; tries++) {
    if (tries === triesMax) throw contended(idOf(requests[open[0]!]!));
    const isFirst = tries === 0;
    const seen = await loadJobs(store, open.map((index) =>
      requests[index]!).filter((request) => !isFirst || !carriesJob(request)));
    const asking = { ...asker, now: store.now() };
    for (const index of open) {
      const request = requests[index]!;
      answers[index] = decide(request, isFirst && carriesJob(request) ? request.job : seen.get(idOf(request)), asking);
    }
    open = await commitDecided(store, answers, open);
  }
  return answers;
}

/** One request; a refusal is thrown. */
export async function apply(store: Writer, job: number | Job, command: Command, asker: Asker): Promise<Change> {
  const [answer] = await applyEach(store, [{ job, command }], asker);
  if (answer instanceof Refusal) throw answer;
  return answer!;
}

/** What several jobs must do together: `decide` looks and says what changes; all is written, or it looks again. */
export async function applyTogether(
  store: Writer,
  decide: () => Promise<Batch['changes'] | Refusal>,
  stagedWith: (changes: readonly Change[]) => Batch['staged'] = () => undefined,
): Promise<readonly Change[]> {
  let missed: unknown;
  for (let tries = 1; ; tries++) {
    const changes = await decide();
    if (changes instanceof Refusal) throw changes;
    const effective = changes.filter(hasEffect);
    if (effective.length === 0) return changes;
    const staged = stagedWith(changes);
    const batch = { changes: effective, whole: true, ...(staged ? { staged } : {}) };
    if (!(await store.commit(batch)).includes(false)) return changes;
    const taken = sharedKey(effective) ?? (await takenKeys(store, effective)).find((key) => key !== undefined);
    // Once is a race that a second look may answer.
    if (taken && taken.detail['key'] === missed) throw taken;
    missed = taken?.detail['key'];
    if (tries === triesMax) throw contended(jobOf(effective[0]!).id);
  }
}

/** Writes new jobs, each on its own; answers which were written: a unique key may have been taken. */
export const insert = (store: Pick<Store, 'commit'>, changes: readonly Change[]): Promise<readonly boolean[]> =>
  store.commit({ changes });

export interface Claimed {
  /** Every change, also of jobs that ended instead of being handed out. */
  readonly changes: readonly Change[];
  /** The store time of the search: pass it to `nextDue`, which then misses no job that became due in between. */
  readonly searchedAt: number;
}

/** Claims the best jobs for a holder. */
export const claim = (store: Store, request: ClaimRequest, holder: string, leaseMs: number | null): Promise<Claimed> =>
  claimFor(store, request, leaseMs, () => holder);

/**
 * The same for several holders, told by how many have been served; `commandsFor` may add to the claim of a job, so that
 * it fails instead of being handed out.
 */
export async function claimFor(
  store: Store,
  request: ClaimRequest,
  leaseMs: number | null,
  holderOf: (served: number) => string,
  commandsFor?: (job: Job, claiming: Command) => readonly Command[],
): Promise<Claimed> {
  let searchedAt = store.now();
  const written = await store.claim(request, (candidates, now, since) => {
    searchedAt = since;
    const until = leaseMs === null ? null : now + leaseMs;
    const changes: Change[] = [];
    let served = 0;
    for (const { job, parentCancelled } of candidates) {
      const holder = holderOf(served);
      const asking = { by: holder, now };
      const taking = { do: 'claim', holder, until, parentCancelled } as const;
      const answer = commandsFor ? steps(job, commandsFor(job, taking), asking) : step(job, taking, asking);
      if (answer instanceof Refusal) continue;
      if (answer.after?.state === 'running') served += 1;
      changes.push(answer);
    }
    return changes;
  });
  return { changes: written, searchedAt };
}

/** The best jobs that nobody else is taking, untouched, and the store time of the search. */
export async function peek(
  store: Store,
  request: ClaimRequest,
): Promise<{ readonly jobs: readonly Job[]; readonly searchedAt: number }> {
  let found: { readonly jobs: readonly Job[]; readonly searchedAt: number } = { jobs: [], searchedAt: store.now() };
  await store.claim(request, (candidates, _now, searchedAt) => {
    found = { jobs: candidates.map(({ job }) => job), searchedAt };
    return [];
  });
  return found;
}

/** Removes jobs that are still as they were seen; answers which. */
export const remove = (store: Store, jobs: readonly Job[]): Promise<readonly boolean[]> =>
  store.commit({ changes: jobs.map(removal) });

/** Removes a job and stores the record of it, both or neither. */
export async function removeAndRecord(store: Store, job: Job, record: Change): Promise<boolean> {
  return (await store.commit({ changes: [removal(job), record], whole: true })).every(Boolean);
}

const removal = (before: Job): Change => ({ before, after: null, events: [] });

/** Whether it brings the job as its asker saw it, which is trusted once. */
const carriesJob = (request: CommandRequest): request is CommandRequest & { readonly job: Job } =>
  typeof request.job !== 'number';

/** The jobs that are asked of, as they are stored. */
async function loadJobs(store: Writer, requests: readonly CommandRequest[]): Promise<ReadonlyMap<number, Job>> {
  if (requests.length === 0) return new Map();
  return new Map((await store.load(requests.map(idOf))).map((job) => [job.id, job]));
}

/**
 * Of several requests for one job the first is written; the others find that someone came in between, and look again.
 */
const decide = (request: CommandRequest, job: Job | undefined, asking: Asking): CommandAnswer =>
  job ? step(job, request.command, asking) : unknownJob(idOf(request));

/** Which of the open requests lost to another writer and must be tried again. */
async function commitDecided(store: Writer, answers: CommandAnswer[], open: readonly number[]): Promise<number[]> {
  const effective = open.filter((index) => {
    const answer = answers[index]!;
    return !(answer instanceof Refusal) && hasEffect(answer);
  });
  if (effective.length === 0) return [];
  const written = await store.commit({ changes: effective.map((index) => answers[index] as Change) });
  const lost = effective.filter((_, position) => !written[position]);
  const taken = await takenKeys(store, lost.map((index) => answers[index] as Change));
  lost.forEach((index, position) => (answers[index] = taken[position] ?? answers[index]!));
  return lost.filter((_, position) => taken[position] === undefined);
}

/** For each change that could not be written: the refusal, where another job has the key that it needs. */
async function takenKeys(store: Writer, changes: readonly Change[]): Promise<readonly (Refusal | undefined)[]> {
  const keys = changes.map(neededKey).filter((key) => key !== null);
  if (keys.length === 0) return [];
  const holders = await store.holders(keys);
  const leaving = new Set(changes.filter(({ after }) => !after || !isOpen(after)).map((change) => jobOf(change).id));
  return changes.map((change) => {
    const key = neededKey(change);
    const holder = key === null ? undefined : holders.get(key);
    const isFree = holder === undefined || holder === jobOf(change).id || leaving.has(holder);
    return isFree ? undefined : takenKey(key!, holder);
  });
}

/** What must be written together cannot have one key twice. */
function sharedKey(changes: readonly Change[]): Refusal | undefined {
  const seen = new Set<string>();
  for (const change of changes) {
    const key = neededKey(change);
    if (key !== null && seen.size === seen.add(key).size) return takenKey(key, jobOf(change).id);
  }
  return undefined;
}

const jobOf = ({ before, after }: Change): Job => (before ?? after)!;

const takenKey = (key: string, id: number): Refusal =>
  new Refusal('taken.key', `job ${id} has the unique key ${JSON.stringify(key)}: wait for its end`, { key, id });

const hasEffect = ({ before, after, events }: Change): boolean =>
  before === null || after === null || events.length > 0;

const idOf = ({ job }: CommandRequest): number => (typeof job === 'number' ? job : job.id);

export const unknownJob = (id: number): Refusal => new Refusal('unknown.job', `there is no job ${id}`, { id });

const contended = (id: number): Refusal =>
  new Refusal('contended', `job ${id} changed ${triesMax} times while this was tried: try again`, { id });
