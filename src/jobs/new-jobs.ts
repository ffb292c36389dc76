/**
 * New jobs: turns drafts into changes with ids, ready to be stored.
 *
 * Saves (bench/LEDGER.md, "drafts that differ only in their input are checked and decided once", fa0b21a):
 * together with `PlainDataCheck` of model/json.ts, create with k = 1,000: 17.6 → 14.3 µs a job.
 * Applies to consecutive drafts that differ only in input, as in a bulk create.
 * Without it (`differsOnlyInInput` is false) each draft is validated alone, and its job and events are made anew.
 */
import type { Change } from '../model/change.ts';
import { create, type Asking } from '../model/machine.ts';
import type { Writer, Store } from '../store/store.ts';
import { checkName } from './checks/values.ts';
import { originOf, checkDraft, firstStateOf, inputOf, differsOnlyInInput, type Draft } from './draft.ts';
import type { CreationHook } from './creation-hook.ts';
import type { Ids } from './ids.ts';

export interface Producer {
  readonly store: Store;
  readonly ids: Ids;
  readonly creating?: CreationHook | null;
}

/** A producer whose store needs only the methods of `Writer`: a store in the caller's transaction has no others. */
export type Creator = Pick<Producer, 'ids'> & { readonly store: Writer };

/** Returns the new jobs as changes that are not stored yet. Drafts are validated before ids are taken. */
export async function newJobs(
  { store, ids }: Creator,
  drafts: readonly Draft[],
  by: string,
  parent: number | null = null,
): Promise<Change[]> {
  await store.synchronize?.();
  const drafted = draftJobs(drafts, parent, askingOf(store, by));
  const numbers = await ids.take(drafts.length);
  return drafted.map(({ model, input }, index) => ({
    before: null,
    after: { ...model.after!, id: numbers[index]!, input },
    events: model.events,
  }));
}

/** Refuses drafts that `newJobs` would refuse. */
export function checkDrafts({ store }: Pick<Creator, 'store'>, drafts: readonly Draft[], by: string): void {
  draftJobs(drafts, null, askingOf(store, by));
}

const askingOf = (store: Writer, by: string): Asking => ({ by: checkName('asker', by), now: store.now() });

interface UnnumberedJob {
  /** The new job and its events, without its id and input; shared by consecutive drafts that differ only in input. */
  readonly model: Change;
  readonly input: string;
}

function draftJobs(drafts: readonly Draft[], parent: number | null, asking: Asking): UnnumberedJob[] {
  let last: Draft | undefined;
  let model: Change;
  return drafts.map((draft) => {
    if (last !== undefined && differsOnlyInInput(checkDraft(draft), last)) return { model, input: inputOf(draft) };
    last = draft;
    model = create({ ...originOf(draft, 0, asking.now), parent }, firstStateOf(draft, asking.now), asking);
    return { model, input: model.after!.input };
  });
}
