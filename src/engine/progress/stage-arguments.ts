/** Checks the arguments of `runStage` and `runStageInParallel` with items, which plain JavaScript can pass wrongly. */
import { Refusal } from '../../refusal.ts';

const stageUsage =
  'a stage takes items, a function that describes an item, and a function that processes it; runStage also ' +
  'takes a single function. To name the stage, call startingStage with the name before';

export function checkStageArguments(items: unknown, describe: unknown, work: unknown): void {
  if (isIterable(items) && typeof describe === 'function' && typeof work === 'function') return;
  throw new Refusal('malformed.option', stageUsage, {});
}

/** Whether `items` can be items of a stage. A text, which is iterable, is a name in the wrong place. */
const isIterable = (items: unknown): boolean =>
  typeof items === 'object' && items !== null && (Symbol.iterator in items || Symbol.asyncIterator in items);
