/** Imports the waiting jobs of a source page by page, and counts what became of them. */
import type { Engine } from '../open.ts';
import { importRequestOf } from './import-request.ts';
import {
  isLeftOut, type ForeignJob, type JobFilter, type ForeignSource, type LeftOut, type LeftOutReason,
} from './source.ts';

export interface QueueCounts {
  readonly queue: string;
  readonly type: string;
  created: number;
  existing: number;
  refused: number;
}

export interface RefusedJob {
  readonly queue: string;
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

export interface LeftOutCount {
  readonly queue: string;
  readonly reason: LeftOutReason;
  count: number;
}

export interface ImportOptions extends JobFilter {
  readonly typeOf: (queue: string, name?: string) => string;
  readonly isDryRun: boolean;
  readonly by: string;
  /** Receives each refused job; they are not collected, because there may be as many as jobs. */
  readonly onRefused: (job: RefusedJob) => void;
}

export interface ImportedJobs {
  readonly queues: readonly QueueCounts[];
  readonly leftOut: readonly LeftOutCount[];
}

export async function importJobs(engine: Engine, source: ForeignSource, options: ImportOptions): Promise<ImportedJobs> {
  const tally = new ImportTally();
  for await (const page of source.jobs(options)) {
    page.filter(isLeftOut).forEach((found) => tally.leaveOut(found));
    const waiting = page.flatMap((found) => (isLeftOut(found) ? [] : [found]));
    const types = Map.groupBy(waiting, ({ queue, name }) => options.typeOf(queue, name));
    for (const [type, jobs] of types) await importPage(engine, source, options, { type, jobs, tally });
  }
  return tally;
}

async function importPage(
  engine: Engine,
  source: ForeignSource,
  { isDryRun, by, onRefused }: ImportOptions,
  { type, jobs, tally }: { readonly type: string; readonly jobs: readonly ForeignJob[]; readonly tally: ImportTally },
): Promise<void> {
  const requests = jobs.map((job) => importRequestOf(source, job));
  const outcomes = await engine.importJobRuns(type, requests, { dryRun: isDryRun }, by);
  outcomes.forEach((answer, index) => {
    const { queue, id } = jobs[index]!;
    tally.of(queue, type)[answer.outcome] += 1;
    if (answer.outcome !== 'refused') return;
    const { code, message } = answer.refusal;
    onRefused({ queue, id, code, message });
  });
}

class ImportTally implements ImportedJobs {
  readonly #queues = new Map<string, QueueCounts>();
  readonly #leftOut = new Map<string, LeftOutCount>();

  get queues(): readonly QueueCounts[] {
    return sorted(this.#queues);
  }

  get leftOut(): readonly LeftOutCount[] {
    return sorted(this.#leftOut);
  }

  of(queue: string, type: string): QueueCounts {
    return getOrAdd(this.#queues, `${queue}\n${type}`, { queue, type, created: 0, existing: 0, refused: 0 });
  }

  leaveOut({ queue, leftOut: reason }: LeftOut): void {
    getOrAdd(this.#leftOut, `${queue}\n${reason}`, { queue, reason, count: 0 }).count += 1;
  }
}

function getOrAdd<T>(map: Map<string, T>, key: string, value: T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  map.set(key, value);
  return value;
}

const sorted = <T>(map: ReadonlyMap<string, T>): readonly T[] =>
  [...map].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
