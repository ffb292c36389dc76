/** Which changes on the server change the list of questions that wait for an answer. */
import type { Changed, QuestionView } from '../../../src/http/contract.ts';

/** Whether one of the changes is of a run that is shown, or a run has begun to wait for answers. */
export function changesQuestions(changes: readonly Changed[], shown: readonly Pick<QuestionView, 'run'>[]): boolean {
  const runs = new Set(shown.map(({ run }) => run));
  return changes.some(({ job, event }) => runs.has(job) || (event.kind === 'slept' && event.data['waits'] === true));
}
