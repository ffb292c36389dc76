/**
 * What one commit tells in the feed. Most commits do the same to many jobs, and then what happened is told once, with
 * the jobs it happened to: a tenth of the text, and of what its writing costs.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { FeedEvent } from './store.ts';

/** The jobs of one kind, type and parent to which the same happened. */
interface Telling extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly jobs: readonly number[];
  readonly events: readonly Event[];
}

interface Group extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly line: string;
  readonly jobs: number[];
}

export class Tellings {
  readonly #groups: Group[] = [];
  /** Those that more jobs can join: none of theirs was told of since. */
  readonly #open = new Map<string, Group>();
  readonly #told = new Set<number>();
  #last: Group | undefined;

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** What happened to a job, as its history has it. */
  add(job: Job, line: string): void {
    const { id, kind, type, parent } = job;
    if (this.#told.has(id)) this.#beginAnew();
    this.#told.add(id);
    if (!this.#last || !isAlike(this.#last, job, line)) this.#last = this.#groupOf(kind, type, parent, line);
    this.#last.jobs.push(id);
  }

  /** As JSON, to be read by `feedEventsOf`. */
  get text(): string {
    return `[${this.#groups.map(groupText).join(',')}]`;
  }

  /** What happens to a job later is told later. */
  #beginAnew(): void {
    this.#open.clear();
    this.#told.clear();
    this.#last = undefined;
  }

  #groupOf(kind: Job['kind'], type: string, parent: number | null, line: string): Group {
    const name = `${kind} ${parent} ${type}\n${line}`;
    const known = this.#open.get(name);
    if (known) return known;
    const fresh = { kind, type, parent, line, jobs: [] };
    this.#open.set(name, fresh);
    this.#groups.push(fresh);
    return fresh;
  }
}

const isAlike = (group: Group, { kind, type, parent }: Job, line: string): boolean =>
  group.line === line && group.type === type && group.parent === parent && group.kind === kind;

const groupText = ({ kind, type, parent, jobs, line }: Group): string =>
  `{"kind":"${kind}","type":${JSON.stringify(type)},"parent":${parent},"jobs":[${jobs.join(',')}],"events":${line}}`;

export const feedEventsOf = (text: string): FeedEvent[] =>
  (JSON.parse(text) as Telling[]).flatMap(({ jobs, events, ...about }) =>
    jobs.flatMap((job) => events.map((event) => ({ job, ...about, event }))),
  );
