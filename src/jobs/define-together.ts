/**
 * Changes many definitions in one commit, all or none, each guarded by the version that was read. The audit entries are
 * part of the commit.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { definitionOf, isFollower, specOf } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { record, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import { closeRecords, newRecords, type AuditEntry } from './audit.ts';
import {
  definitionsNamed, disabling, enabling, ending, known, newDefinition, redeclaration, redefinition,
  type Declaration, type KnownDefinition, type Redefine,
} from './define.ts';
import { linked, type LinkedChanges } from './def-followers.ts';
import { alsoRecord, joined } from './joined-changes.ts';
import type { Producer } from './new-jobs.ts';
import { ticksBefore, type TickedTogether } from './tick.ts';

/** One change of the commit. `action` is its name in the audit. */
export type DefinitionEdit =
  | {
      readonly action: string;
      readonly add: Declaration;
      /** The definition that the new one continues: its plan is kept, so that no tick is lost or repeated. */
      readonly continues?: Job;
    }
  | { readonly action: string; readonly edit: Job; readonly redefineBy?: Redefine; readonly enabled?: boolean }
  | { readonly action: string; readonly end: Job };

export interface DefinitionEdits {
  /** Reads the definitions and returns the changes; called again after a conflict with another writer. */
  readonly decide: () => Promise<readonly DefinitionEdit[]>;
  readonly asker: Asker;
  /** Whether the audit records the changes. */
  readonly isRecorded: boolean;
}

export async function defineTogether(
  definer: Producer,
  { decide, asker, isRecorded }: DefinitionEdits,
): Promise<void> {
  let records: readonly Change[] = [];
  let following: TickedTogether['following'] = {};
  await applyTogether(definer.store, async () => {
    const edits = await decide();
    await definer.store.synchronize?.();
    const decided = await changesOf(definer, edits, { ...asker, now: definer.store.now() });
    if (decided instanceof Refusal) return decided;
    const { defs, others, newRuns } = decided;
    ({ following } = decided);
    const entries = edits.map((edit, index) => entryOf(edit, defs[index]!));
    records = isRecorded ? await newRecords(definer, entries, asker) : [];
    return [...defs, ...others, ...newRuns, ...records];
  }, () => following);
  await closeRecords(definer, records, asker);
}

/**
 * Declares the changed definitions that follow others, or followed others before, in one commit: one by one, they could
 * contradict what is stored of those that come later. Returns the other declarations.
 */
export async function declareConnected(
  definer: Producer,
  declarations: readonly Declaration[],
  by: string,
): Promise<readonly Declaration[]> {
  const stored = await definitionsNamed(definer.store, declarations.map(({ name }) => name));
  const isConnected = ({ name, spec }: Declaration): boolean => isFollower(spec) || isFollower(stored.get(name)?.spec ?? {});
  const connected = declarations.filter(isConnected);
  if (connected.length === 0) return declarations;
  // What they follow may be new, too.
  const names = new Set(connected.flatMap(({ name, spec }) => [name, ...(spec.after ?? [])]));
  const together = declarations.filter(({ name }) => names.has(name));
  await defineTogether(definer, {
    decide: async () => {
      const now = await definitionsNamed(definer.store, together.map(({ name }) => name));
      return together.flatMap((one) => declaredEdit(one, now.get(one.name)));
    },
    asker: { by, why: 'the code changed' },
    isRecorded: false,
  });
  return declarations.filter(({ name }) => !names.has(name));
}

function declaredEdit(declaration: Declaration, known: KnownDefinition | undefined): readonly DefinitionEdit[] {
  if (known === undefined) return [{ action: 'define', add: declaration }];
  const redefineBy = redeclaration(declaration, known);
  if (redefineBy === null) return [];
  return [{ action: 'redefine', edit: known.job, redefineBy, ...(known.isAbandoned ? { enabled: true } : {}) }];
}

/** The changes of the definitions of the edits, in order, of definitions that they follow, and of new runs. */
type DecidedChanges = LinkedChanges & Pick<TickedTogether, 'newRuns' | 'following'>;

async function changesOf(
  definer: Producer,
  edits: readonly DefinitionEdit[],
  asking: Asking,
): Promise<DecidedChanges | Refusal> {
  const ids = await definer.ids.take(edits.filter((edit) => 'add' in edit).length);
  const { ticked, newRuns, following } = await ticksBefore(definer, edits.flatMap(tickedFirst), asking.now, { by: asking.by });
  const defs: Change[] = [];
  for (const edit of edits) {
    const change = changeOf(edit, ticked, ids, asking);
    if (change instanceof Refusal) return change;
    defs.push(change);
  }
  const linkedDefs = await linked(definer.store, defs, asking);
  return linkedDefs instanceof Refusal ? linkedDefs : { ...linkedDefs, newRuns, following };
}

/** The definition whose due ticks are handled before the edit: one that gets another spec, or another name. */
function tickedFirst(edit: DefinitionEdit): readonly Job[] {
  if ('add' in edit) return edit.continues ? [edit.continues] : [];
  return 'edit' in edit && edit.redefineBy ? [edit.edit] : [];
}

function changeOf(
  edit: DefinitionEdit,
  ticked: ReadonlyMap<number, Change>,
  ids: number[],
  asking: Asking,
): Change | Refusal {
  if ('add' in edit) return newDefinition(ids.shift()!, edit.add, asking, planned(edit.continues, ticked));
  const def = 'end' in edit ? edit.end : edit.edit;
  const before = ticked.get(def.id) ?? record(def, [], asking);
  if ('end' in edit) {
    const ended = ending(before.after!, asking);
    return ended instanceof Refusal ? ended : joined(before, ended);
  }
  const { redefineBy, enabled } = edit;
  const redefined = redefineBy ? alsoRecord(before, (job) => redefinition(job, redefineBy, asking.now), asking) : before;
  if (enabled === undefined) return redefined;
  return alsoRecord(redefined, (job) => (enabled ? enabling(job, asking.now) : disabling(job)), asking);
}

function planned(continues: Job | undefined, ticked: ReadonlyMap<number, Change>) {
  if (continues === undefined) return undefined;
  const job = ticked.get(continues.id)?.after ?? continues;
  return { spec: specOf(definitionOf(job)), plan: job.plan! };
}

function entryOf({ action }: DefinitionEdit, { before, after }: Change): AuditEntry {
  return { action, job: null, def: (after ?? before)!.def, before: before && viewOf(before), after: after && viewOf(after) };
}

function viewOf(job: Job): unknown {
  return job.state === 'ended' ? null : recordedFields(known(job));
}

/** The fields of a definition that an audit entry shows. */
export const recordedFields = ({ isEnabled, override, code }: KnownDefinition): unknown => ({ isEnabled, override, code });
