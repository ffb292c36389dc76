/** New jobs: drafts become changes with ids. Drafts in a row that differ only in input are decided once. */
import type { Change } from '../model/change.ts';
import { create, type Asking } from '../model/machine.ts';
import type { Writer, Store } from '../store/store.ts';
import { checkName } from './checks/values.ts';
import { originOf, checkDraft, firstStateOf, inputOf, differsOnlyInInput, type Draft } from './draft.ts';
import type { Ids } from './ids.ts';

export interface Producer {
  readonly store: Store;
  readonly ids: Ids;
}

/** All that creating needs of a producer; inside a transaction of the caller's there is no more. */
export type Creator = Pick<Producer, 'ids'> & { readonly store: Writer };

/** New jobs as changes, not yet stored. No id is taken for what is malformed. */
export async function newJobs(
  { store, ids }: Creator,
  drafts: readonly Draft[],
  by: string,
  parent: number | null = null,
): Promise<Change[]> {
  await store.synchronize?.();
  const asking = { by: checkName('asker', by), now: store.now() };
  const drafted = draftJobs(drafts, parent, asking);
  const numbers = await ids.take(drafts.length);
  return drafted.map(({ model, input }, index) => ({
    before: null,
    after: { ...model.after!, id: numbers[index]!, input },
    events: model.events,
  }));
}

interface UnnumberedJob {
  /** Shared by all that were said to be alike. */
  readonly model: Change;
  readonly input: string;
}

/** Drafts that follow each other and say the same, but for their input, are checked and decided as one. */
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
