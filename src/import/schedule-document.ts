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

/**
 * Plans the definitions of the schedules. If one is refused, each is planned alone, and the rest together: planning all of
 * them again for each refused one would take the square of their number.
 */
export async function planSchedules(
  engine: Engine,
  schedules: readonly ForeignSchedule[],
  typeOf: TypeOf,
): Promise<PlannedSchedules> {
  const { entries, refused } = entriesOf(schedules, typeOf);
  const planned = await planOrRefusal(engine, entries);
  if (!isRefusal(planned)) return { ...planned, refused };
  const accepted = await acceptedOf(engine, entries, refused);
  const rest = await planOrRefusal(engine, accepted);
  if (isRefusal(rest)) throw rest;
  return { ...rest, refused };
}

/** Returns the entries that can be planned, and adds the others to `refused`. Of entries with one name, the first counts. */
async function acceptedOf(engine: Engine, entries: readonly DefEntry[], refused: RefusedSchedule[]): Promise<readonly DefEntry[]> {
  const accepted = new Map<string, DefEntry>();
  for (const entry of entries) {
    const { name } = entry;
    const known = accepted.get(name);
    const planned = await planOrRefusal(engine, known === undefined ? [entry] : [known, entry]);
    if (isRefusal(planned)) refused.push(refusedBy(name, planned));
    else accepted.set(name, entry);
  }
  return [...accepted.values()];
}

/** Returns the refusal if it is about one of the entries, and throws other errors. */
async function planOrRefusal(
  engine: Engine,
  definitions: readonly DefEntry[],
): Promise<Omit<PlannedSchedules, 'refused'> | Refusal> {
  const document = { definitions };
  try {
    return { document, plan: await engine.planDefinitions(document) };
  } catch (error) {
    if (isRefusal(error) && isAboutEntry(error)) return error;
    throw error;
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

/** Whether a document was refused because of one of its definitions. */
function isAboutEntry({ detail: { documentPath: path } }: Refusal): boolean {
  return Array.isArray(path) && path[0] === 'definitions' && typeof path[1] === 'number';
}

/** The position in the document says nothing to somebody who has not written it. */
const refusedBy = (name: string, { code, message }: Refusal): RefusedSchedule =>
  ({ name, code, message: message.replace(/^definitions\[\d+\](?:\.|: )/, '') });
