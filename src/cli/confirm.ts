/** Asks the user to confirm a plan. Without a terminal, only `--yes` confirms it. */
import { createInterface } from 'node:readline/promises';
import { Refusal } from '../refusal.ts';

export async function confirm(question: string, { yes }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new Refusal('malformed.option', 'this is not a terminal: confirm the plan with --yes', {});
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} (yes/no) `);
  terminal.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Refusal('malformed.option', 'not confirmed: nothing was changed', {});
}
