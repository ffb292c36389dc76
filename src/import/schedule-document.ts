/** Schedules of another system as a document of definitions. Those that Stint cannot have are refused one by one. */
import type { DefDocument } from '../engine/declare/def-document.ts';
import type { DefEntry } from '../engine/declare/def-entry.ts';
import type { DefPlan } from '../engine/declare/def-plan.ts';
import type { Engine } from '../open.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { ForeignSchedule } from './source.ts';

export interface RefusedSchedule {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

export interface PlannedSchedules {
  readonly document: DefDocument;
  readonly plan: DefPlan;
  readonly refused: readonly RefusedSchedule[];
}

type TypeOf = (queue: string, name?: string) => string;

/** Plans the definitions of the schedules. A refused one is removed, and the rest is planned again. */
export async function planSchedules(
  engine: Engine,
  schedules: readonly ForeignSchedule[],
  typeOf: TypeOf,
): Promise<PlannedSchedules> {
  const { entries, refused } = entriesOf(schedules, typeOf);
  for (;;) {
    const document = { definitions: entries };
    try {
      return { document, plan: await engine.planDefinitions(document), refused };
    } catch (error) {
      const index = refusedIndex(error);
      if (index === null) throw error;
      refused.push(refusedBy(entries[index]!.name, error as Refusal));
      entries.splice(index, 1);
    }
  }
}

function entriesOf(schedules: readonly ForeignSchedule[], typeOf: TypeOf) {
  const entries: DefEntry[] = [];
  const refused: RefusedSchedule[] = [];
  for (const each of schedules) {
    const { schedule, name } = each;
    if (typeof schedule === 'string') refused.push({ name, code: 'malformed.schedule', message: schedule });
    else entries.push(entryOf(each, schedule, typeOf));
  }
  return { entries, refused };
}

const entryOf = (
  { name, queue, jobName, payload, priority, attempts, misfire }: ForeignSchedule,
  schedule: Exclude<ForeignSchedule['schedule'], string>,
  typeOf: TypeOf,
): DefEntry => ({
  name,
  type: typeOf(queue, jobName),
  ...(payload == null ? {} : { params: payload }),
  schedules: [schedule],
  ...(priority === undefined ? {} : { priority: priority + 0 }),
  ...(attempts === undefined ? {} : { retry: { attempts } }),
  ...(misfire === undefined ? {} : { misfire }),
});

/** The index of the definition at which a document was refused; null: the error is not about one of them. */
function refusedIndex(error: unknown): number | null {
  const path = isRefusal(error) ? error.detail['documentPath'] : undefined;
  const index = Array.isArray(path) && path[0] === 'definitions' ? path[1] as unknown : undefined;
  return typeof index === 'number' ? index : null;
}

/** The position in the document says nothing to somebody who has not written it. */
const refusedBy = (name: string, { code, message }: Refusal): RefusedSchedule =>
  ({ name, code, message: message.replace(/^definitions\[\d+\](?:\.|: )/, '') });
