/** Prints a run after an action: as JSON, or the sentence that says what has happened. */
import type { RunView } from '../http/contract.ts';
import { printJson, printLine } from './print.ts';

export function printRun(run: RunView, sentence: string, { json }: { readonly json?: boolean }): void {
  if (json) printJson(run);
  else printLine(sentence);
}
