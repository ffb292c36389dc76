/**
 * Apply: loads jobs, lets the machine decide, commits the changes, and starts over after a conflict with another
 * writer. No other code claims jobs or commits changes of jobs.
 */
import type { Change } from './model/change.ts';
import type { Command, CommandOf } from './model/command.ts';
import { isOpen, type Job } from './model/job.ts';
import { step, steps, type Asking } from './model/machine.ts';
import type { TypeVersions } from './model/type-version.ts';
import { neededKey } from './model/unique-key.ts';
import { Refusal } from './refusal.ts';
import type { Batch, ClaimRequest, InboxTake, MemoWrite, Store, Writer } from './store/store.ts';

/** One command for one job. `job` is the id of the job, or the job as it was last read, which saves a load. */
export interface CommandRequest {
  readonly job: number | Job;
  readonly command: Command;
}

export type CommandAnswer = Change | Refusal;

export const isChange = (answer: CommandAnswer): answer is Change => !(answer instanceof Refusal);

/** Who asks for a change, and why. `now` is left out, because it is always the time of the store. */
export type Asker = Omit<Asking, 'now'>;

/** After this many conflicts with other writers, `contended` is thrown. Ordinary contention causes far fewer. */
const triesMax = 50;

/**
 * Applies each request independently: a refusal or a conflict of one does not affect the others. Throws `contended` if
 * a request conflicts `triesMax` times.
 */
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
    open.forEach((index) => {
      const request = requests[index]!;
      answers[index] = decide(request, isFirst && carriesJob(request) ? request.job : seen.get(idOf(request)), asking);
    });
    open = await commitDecided(store, answers, open);
  }
  return answers;
}

export async function apply(store: Writer, job: number | Job, command: Command, asker: Asker): Promise<Change> {
  const [answer] = await applyEach(store, [{ job, command }], asker);
  if (answer instanceof Refusal) throw answer;
  return answer!;
}

/**
 * Changes several jobs in one transaction, all or none. `decide` reads the jobs and returns the changes; after a
 * conflict it is called again. `alsoWrite` returns what the same commit writes besides the changes.
 */
export async function applyTogether(
  store: Writer,
  decide: () => Promise<Batch['changes'] | Refusal>,
  alsoWrite: (changes: readonly Change[]) => Omit<Batch, 'changes' | 'whole'> = () => ({}),
): Promise<readonly Change[]> {
  let missed: unknown;
  for (let tries = 1; ; tries++) {
    const changes = await decide();
    if (changes instanceof Refusal) throw changes;
    const effective = changes.filter(hasEffect);
    if (effective.length === 0) return changes;
    const batch = { changes: effective, whole: true, ...alsoWrite(changes) };
    if (!(await store.commit(batch)).includes(false)) return changes;
    const taken = sharedKey(effective) ?? (await takenKeys(store, effective)).find((key) => key !== undefined);
    // Another job may have taken the key after `decide` read the jobs, so `decide` is called once more. If its new
    // changes cannot be written because of the same key, the refusal is thrown.
    if (taken && taken.detail['key'] === missed) throw taken;
    missed = taken?.detail['key'];
    if (tries === triesMax) throw contended(jobOf(effective[0]!).id);
  }
}

/**
 * Inserts new jobs independently; returns for each whether it was written. False: its unique key is taken, or its id is
 * in use.
 */
export const insert = (store: Pick<Store, 'commit'>, changes: readonly Change[]): Promise<readonly boolean[]> =>
  store.commit({ changes });

/**
 * Removes requests from the inbox, each in one commit with its change; returns for each whether that was done. False:
 * another instance has the request, or the change could not be written.
 */
export const takeRequests = (store: Pick<Store, 'takeFromInbox'>, takes: readonly InboxTake[]) =>
  store.takeFromInbox(takes);

/** Writes memos, and new jobs in the same commit; returns whether that was done. False: another writer was first. */
export const commitMemos = (
  store: Pick<Store, 'writeMemos'>,
  writes: readonly MemoWrite[],
  changes: readonly Change[] = [],
): Promise<boolean> => store.writeMemos(writes, changes);

export interface Claimed {
  /** All changes that were written, including those of jobs that ended instead of being claimed. */
  readonly changes: readonly Change[];
  /** The store time of the search. Pass it to `nextDue`, so that jobs that became due after the search are found. */
  readonly searchedAt: number;
}

/** Claims the first due jobs for one holder. `leaseMs` null: their lease is that of the holder's instance. */
export const claim = (store: Store, request: ClaimRequest, holder: string, leaseMs: number | null): Promise<Claimed> =>
  claimFor(store, request, leaseMs, () => holder);

/**
 * Claims jobs for several holders. `holderOf` returns the holder of the next job; `served` is the number of jobs that
 * this call has claimed so far. `commandsFor` returns the commands for a job: `claiming`, optionally after edits, and
 * optionally followed by commands that end the job in the same change, so that the holder does not get the job.
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
    const versions = ('exact' in request.names && request.names.versions) || [];
    const changes: Change[] = [];
    let served = 0;
    const claiming = claimings(versions, until);
    let asking: Asking = { by: '', now };
    candidates.forEach(({ job, parentCancelled }) => {
      const holder = holderOf(served);
      if (asking.by !== holder) asking = { by: holder, now };
      const taking = claiming(holder, job.type, parentCancelled);
      const answer = commandsFor ? steps(job, commandsFor(job, taking), asking) : step(job, taking, asking);
      if (answer instanceof Refusal) return;
      if (answer.after?.state === 'running') served += 1;
      changes.push(answer);
    });
    return changes;
  });
  return { changes: written, searchedAt };
}

/** Returns a function that makes the commands of a claim: the same one for jobs in a row for which it is equal. */
function claimings(versions: readonly TypeVersions[], until: number | null) {
  let last: CommandOf<'claim'> | null = null;
  let lastType = '';
  return (holder: string, type: string, parentCancelled: boolean): CommandOf<'claim'> => {
    const isKnown = versions.length === 0 || type === lastType;
    if (isKnown && last?.holder === holder && last.parentCancelled === parentCancelled) return last;
    lastType = type;
    return (last = { do: 'claim', holder, until, parentCancelled, ...knownOf(versions, type) });
  };
}

/** Returns the field `knows` of a claim: the versions of the type that the claimer knows, unless only the first. */
export function knownOf(versions: readonly TypeVersions[], type: string): { readonly knows?: readonly [number, number] } {
  const known = versions.find((one) => one.type === type);
  return known ? { knows: [known.from, known.to] } : {};
}

/** Finds the jobs that a claim would take, without changing them; returns them with the store time of the search. */
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

/** Deletes each job, unless it has changed since it was read; returns for each whether it was deleted. */
export const remove = (store: Store, jobs: readonly Job[]): Promise<readonly boolean[]> =>
  store.commit({ changes: jobs.map(removal) });

/** Deletes a job and stores the audit entry of the deletion. False: neither was done, because the job has changed. */
export async function removeAndRecord(store: Store, job: Job, record: Change): Promise<boolean> {
  return (await store.commit({ changes: [removal(job), record], whole: true })).every(Boolean);
}

const removal = (before: Job): Change => ({ before, after: null, events: [] });

/** Whether the request contains the job, not only its id. After a conflict this copy is stale, so the job is loaded. */
const carriesJob = (request: CommandRequest): request is CommandRequest & { readonly job: Job } =>
  typeof request.job !== 'number';

/** Loads the jobs of the requests, by id. Jobs that do not exist are absent from the map. */
async function loadJobs(store: Writer, requests: readonly CommandRequest[]): Promise<ReadonlyMap<number, Job>> {
  if (requests.length === 0) return new Map();
  return new Map((await store.load(requests.map(idOf))).map((job) => [job.id, job]));
}

/**
 * Lets the machine decide one request. If `applyEach` has several requests for one job, all are decided from the same
 * version of the job. The first change is written; the others conflict with it, and their requests are decided again.
 */
const decide = (request: CommandRequest, job: Job | undefined, asking: Asking): CommandAnswer =>
  job ? step(job, request.command, asking) : unknownJob(idOf(request));

/**
 * Commits the changes in `answers` at the indexes `open`. Returns the indexes of changes that lost to another writer
 * and must be decided again. If another job has the unique key that a change needs, a refusal replaces the change.
 */
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

/**
 * Returns for each change that was not written: a refusal if another job has the unique key that the change needs;
 * otherwise undefined.
 */
async function takenKeys(store: Writer, changes: readonly Change[]): Promise<readonly (Refusal | undefined)[]> {
  const keys = changes.map(neededKey).filter((key) => key !== null);
  if (keys.length === 0) return [];
  const jobsByKey = await store.jobsByKey(keys);
  const leaving = new Set(changes.filter(({ after }) => !after || !isOpen(after)).map((change) => jobOf(change).id));
  return changes.map((change) => {
    const key = neededKey(change);
    const holder = key === null ? undefined : jobsByKey.get(key);
    const isFree = holder === undefined || holder === jobOf(change).id || leaving.has(holder);
    return isFree ? undefined : takenKey(key!, holder);
  });
}

/** The refusal if two changes of one transaction need the same unique key; otherwise undefined. */
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
