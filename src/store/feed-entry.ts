/**
 * The feed entry of one commit. If many jobs of a commit have equal events and the same kind, type and parent, the
 * entry usually contains the events once, with the ids of the jobs. The definitions of the jobs are beside the ids,
 * because the runs of many definitions may be claimed together.
 *
 * Saves (bench/LEDGER.md, "the feed stores equal events of many jobs once"): nine tenths of the text and of the cost of
 * writing it. On SQLite the claim of a job takes 17.3 instead of 26.8 µs.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { ListedIds } from './listed-ids.ts';
import type { FeedEvent } from './store.ts';

/** A group of a stored feed entry: jobs of one kind, type and parent with equal events. */
interface StoredGroup extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly jobs: readonly number[];
  readonly events: readonly Event[];
  /** The definition of all jobs. */
  readonly def?: string;
  /** The definition of each job, if they differ. Without `def` and `defs`, no job has one, or an older version wrote the entry. */
  readonly defs?: readonly (string | null)[];
}

interface EventGroup extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly line: string;
  readonly jobs: number[];
  readonly defs: (string | null)[];
}

export class FeedEntry {
  readonly #groups: EventGroup[] = [];
  /** The groups to which further jobs may be added, by kind, parent, type and line. */
  readonly #open = new Map<string, EventGroup>();
  readonly #listed = new ListedIds();
  #last: EventGroup | undefined;

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** Adds the events of a job. `line` is the JSON line that the commit appends to the history of the job. */
  add(job: Job, line: string): void {
    const { id, kind, type, parent } = job;
    if (this.#listed.has(id)) this.#closeGroups();
    this.#listed.add(id);
    if (!this.#last || !isAlike(this.#last, job, line)) this.#last = this.#groupOf(kind, type, parent, line);
    this.#last.jobs.push(id);
    this.#last.defs.push(job.def);
  }

  /** The entry as JSON text, which `feedEventsOf` parses. */
  get text(): string {
    return `[${this.#groups.map(groupText).join(',')}]`;
  }

  /**
   * Makes later changes start new groups. Called before the second change of the same job is added. Otherwise the
   * second change could join a group that is listed before the group of the first change.
   */
  #closeGroups(): void {
    this.#open.clear();
    this.#listed.clear();
    this.#last = undefined;
  }

  #groupOf(kind: Job['kind'], type: string, parent: number | null, line: string): EventGroup {
    const name = `${kind} ${parent} ${type}\n${line}`;
    const known = this.#open.get(name);
    if (known) return known;
    const fresh = { kind, type, parent, line, jobs: [], defs: [] };
    this.#open.set(name, fresh);
    this.#groups.push(fresh);
    return fresh;
  }
}

const isAlike = (group: EventGroup, { kind, type, parent }: Job, line: string): boolean =>
  group.line === line && group.type === type && group.parent === parent && group.kind === kind;

const groupText = ({ kind, type, parent, jobs, defs, line }: EventGroup): string =>
  `{"kind":"${kind}","type":${JSON.stringify(type)},"parent":${parent}${defsText(defs)},"jobs":[${jobs.join(',')}],"events":${line}}`;

function defsText(defs: readonly (string | null)[]): string {
  const [first] = defs;
  if (defs.some((def) => def !== first)) return `,"defs":${JSON.stringify(defs)}`;
  return first === null ? '' : `,"def":${JSON.stringify(first)}`;
}

export const feedEventsOf = (text: string): FeedEvent[] =>
  (JSON.parse(text) as StoredGroup[]).flatMap(({ kind, type, parent, def = null, defs, jobs, events }) =>
    jobs.flatMap((job, index) =>
      events.map((event) => ({ job, kind, type, def: defs?.[index] ?? def, parent, event }))),
  );
