/** What the jobs of the bench are: their names, and an input of 200 bytes. */
import type { Draft, Names } from './contender.ts';

export const ownType = 'mail.send';
export const ownName: Names = { exact: [ownType] };

const inputBytes = 200;

export const drafts = (count: number, type = ownType): Draft[] =>
  Array.from({ length: count }, () => ({ type, input: input(0) }));

/** Carries when it was made, in the time of `machineMs`. */
export const stampedDraft = (): Draft => ({ type: ownType, input: input(machineMs()) });

export const ageMs = (inputText: string): number => machineMs() - (JSON.parse(inputText) as Input).madeMs;

interface Input {
  readonly madeMs: number;
  readonly to: string;
  readonly text: string;
}

function input(madeMs: number): Input {
  const bare = { madeMs, to: 'someone@example.org', text: '' };
  return { ...bare, text: 'x'.repeat(inputBytes - JSON.stringify(bare).length) };
}

/** Milliseconds since some start that all processes of the machine share. */
const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
