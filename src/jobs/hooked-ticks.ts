/**
 * Ticks whose runs can be refused: by the creation hook, which may also change them, or because they are invalid.
 * The tick of a refused run is recorded as skipped, and the schedule continues.
 */
import type { CalledRun, IsTickRefused, Spec, Ticking } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { isRefusal, isTemporary, type Refusal } from '../refusal.ts';
import type { ChangedRun, CreationHook, NewRun } from './creation-hook.ts';
import { draftRefusalOf, type Draft } from './draft.ts';

/** The fields that the hook has changed in the draft of a run. */
export type DraftChanges = Pick<Draft, 'input' | 'typeVersion' | 'priority' | 'tags' | 'limitKey' | 'limitUses'>;

export interface HookedTicking extends Ticking {
  readonly changesOf: (run: CalledRun) => DraftChanges;
  /** Why a run was refused; undefined: none was. */
  readonly why: string | undefined;
}

const whyMax = 1_000;
const unchanged: DraftChanges = {};
const nothingChanged = (): DraftChanges => unchanged;

/** Returns the draft of a run of the definition, except its tick. */
export type DraftOfRun = (changes: DraftChanges) => Draft;

/** Decides the outcome of ticks, given which of their runs were refused. */
export type DecideTicks = (isRefused: IsTickRefused) => Ticking;

/** Ticks a definition without a hook. Its runs differ only in their ticks, so that all of them are refused or none. */
export function plainTicking(decide: DecideTicks, draftOfRun: DraftOfRun, now: number): HookedTicking {
  const refusal = draftRefusalOf(draftOfRun(unchanged), now);
  const ticking = decide(() => refusal !== null);
  return { ...ticking, changesOf: nothingChanged, why: refusal === null ? undefined : whyText(refusal) };
}

export interface HookedParts {
  readonly creating: CreationHook;
  readonly def: Job;
  readonly spec: Spec;
  readonly now: number;
  readonly by: string;
}

/**
 * Ticks a definition. The hook is called once for each run. If it refuses one, the overlap policy may allow a run of
 * another due tick instead, so the definition is ticked again until the hook has answered for every run.
 */
export async function hookedTicking(
  decide: DecideTicks,
  draftOfRun: DraftOfRun,
  { creating, def, spec, now, by }: HookedParts,
): Promise<HookedTicking> {
  const answers = new Map<string, ChangedRun | Refusal>();
  const isRefused = (schedule: number, nominal: number): boolean => isRefusal(answers.get(`${schedule} ${nominal}`));
  for (;;) {
    const ticking = decide(isRefused);
    const open = ticking.runs.filter((run) => !answers.has(nameOf(run)));
    if (open.length === 0) return { ...ticking, changesOf: (run) => changesOfHook(spec, answers.get(nameOf(run)) as ChangedRun), why: whyOf(answers) };
    await Promise.all(open.map(async (run) => {
      const answer = await hookAnswer(creating, def, spec, run, by);
      const refusal = isRefusal(answer) ? answer : draftRefusalOf(draftOfRun(changesOfHook(spec, answer)), now);
      answers.set(nameOf(run), refusal ?? answer);
    }));
  }
}

const nameOf = ({ schedule, nominal }: CalledRun): string => `${schedule} ${nominal}`;

/** Calls the hook for the run of a tick, or for a run that follows one that is started by hand (`nominal` is null). */
export async function hookAnswer(
  creating: CreationHook,
  def: Job,
  spec: Spec,
  { nominal }: { readonly nominal: number | null },
  by: string,
): Promise<ChangedRun | Refusal> {
  const { type, params: input, priority } = spec;
  const tickTime = nominal === null ? null : new Date(nominal);
  const run: NewRun = { kind: 'run', type, def: def.def, tickTime, by, input, priority, tags: spec.tags ?? {} };
  try {
    return await creating(run, spec.links === undefined);
  } catch (error) {
    if (isRefusal(error) && !isTemporary(error)) return error;
    throw error;
  }
}

export function changesOfHook(spec: Spec, changed: ChangedRun): DraftChanges {
  const { input, typeVersion, priority = spec.priority, tags, limitKey, limitUses } = changed;
  return {
    input,
    ...(typeVersion === undefined ? {} : { typeVersion }),
    priority,
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(limitKey === undefined ? {} : { limitKey }),
    ...(limitUses === undefined ? {} : { limitUses }),
  };
}

function whyOf(answers: ReadonlyMap<string, ChangedRun | Refusal>): string | undefined {
  const refusal = [...answers.values()].find(isRefusal);
  return refusal && whyText(refusal);
}

const whyText = ({ code, message }: Refusal): string => `${code}: ${message}`.slice(0, whyMax);
