/** The middleware around creations: makes the creation hook of an engine from the `create` functions of its middleware. */
import type { ChangedRun, CreationHook, NewRun, RunChanges } from '../../jobs/creation-hook.ts';
import { isOwnType } from '../../model/own-type.ts';
import { versionOfEntry } from '../../model/type-entry.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import { errorText } from '../handler/plain-text.ts';
import { callThrough } from './middleware-chain.ts';
import type { Middleware } from './middleware.ts';
import type { TypeRules } from './type-rules.ts';

const messageBytesMax = 1_000;

/**
 * Returns the hook; null: no middleware has a `create`. `rulesOf` returns the rules of a job type, which validate the
 * input of a tick that a middleware has changed; a request is validated after the hook.
 */
export function creationHook(
  middleware: readonly Middleware[],
  rulesOf: (type: string) => Promise<TypeRules>,
): CreationHook | null {
  const layers = middleware.flatMap((one) => (one.create ? [one.create.bind(one)] : []));
  if (layers.length === 0) return null;
  return async (run, isChecked = false) => {
    // Operators' commands and bulk actions are no runs of the application.
    if (isOwnType(run.type)) return run;
    const changed = await throughLayers(layers, run);
    return isChecked && changed.input !== run.input ? checkedTick(changed, rulesOf) : changed;
  };
}

async function throughLayers(layers: readonly NonNullable<Middleware['create']>[], run: NewRun): Promise<NewRun> {
  let changed = run;
  const innermost = async (last: NewRun): Promise<void> => void (changed = last);
  try {
    await callThrough({ layers, merge, innermost }, run);
  } catch (error) {
    throw refusalOf(error, run);
  }
  return changed;
}

const merge = (run: NewRun, { input, priority, tags }: RunChanges): NewRun => ({
  ...run,
  ...(input === undefined ? {} : { input }),
  ...(priority === undefined ? {} : { priority }),
  ...(tags === undefined ? {} : { tags: { ...run.tags, ...tags } }),
});

async function checkedTick(run: NewRun, rulesOf: (type: string) => Promise<TypeRules>): Promise<ChangedRun> {
  const rules = await rulesOf(run.type);
  const output = await rules.check(run.input);
  const typeVersion = versionOfEntry(rules.entry);
  return { ...run, limitKey: rules.limitKey(output), limitUses: rules.limitUses(output), typeVersion };
}

function refusalOf(error: unknown, { type }: NewRun): Refusal {
  if (isRefusal(error)) return error;
  const message = `a middleware refused the run: ${errorText(error, messageBytesMax)}`;
  const refusal = new Refusal('refused.creation', message, { type });
  refusal.cause = error;
  return refusal;
}
