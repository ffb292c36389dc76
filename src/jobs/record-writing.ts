/** Writes records: jobs of kind `type`, `build` or `limit`, which are never executed. Their histories show how they changed. */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { never } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import { recordId, type RecordKind } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { originOf } from './draft.ts';

export interface RecordContent {
  readonly kind: RecordKind;
  readonly name: string;
  /** Returns the new content of the record; `before` is the stored content, undefined if there is none. */
  readonly contentAfter: (before: unknown) => unknown;
}

/** The job type of the records of a kind. */
export const recordType = (kind: RecordKind): string => `stint.${kind}`;

/** Writes the records in one commit. A record whose content does not change is not written. */
export async function writeRecords(store: Store, records: readonly RecordContent[], asker: Asker): Promise<void> {
  await applyTogether(store, async () => {
    const ids = records.map(({ kind, name }) => recordId(kind, name));
    const known = new Map((await store.load(ids)).map((job) => [job.id, job]));
    const asking = { ...asker, now: store.now() };
    return records.flatMap((each, index) => changeOf(each, ids[index]!, known.get(ids[index]!), asking));
  });
}

function changeOf(
  { kind, name, contentAfter }: RecordContent,
  id: number,
  known: Job | undefined,
  asking: Asker & { readonly now: number },
): Change[] {
  const input = JSON.stringify(contentAfter(known && (JSON.parse(known.input) as unknown)));
  if (known) return known.input === input ? [] : [record(known, [{ kind: 'edited', edit: { input } }], asking)];
  const origin = { ...originOf({ kind, type: recordType(kind), key: name, inputText: input }, id, asking.now), parent: null };
  return [create(origin, { due: never, priority: 0, hold: 'pause' }, asking)];
}
