/** What the jobs of the bench are: their names, and an input of 200 bytes. */
import type { Draft, Names } from './contender.ts';

export const ownType = 'mail.send';
export const ownName: Names = { exact: [ownType] };

const inputBytes = 200;

export const drafts = (count: number, type = ownType): Draft[] =>
  Array.from({ length: count }, () => ({ type, input: input() }));

/** Carries when it was made, in the time of `machineMs`. */
export const stampedInput = (): Input => input(machineMs());
export const stampedDraft = (): Draft => ({ type: ownType, input: stampedInput() });

export const ageMs = ({ madeMs }: Input): number => machineMs() - madeMs;

export interface Input {
  readonly madeMs: number;
  readonly to: string;
  readonly text: string;
}

/** Made nobody says when, unless told. */
export function input(madeMs = 0): Input {
  const bare = { madeMs, to: 'someone@example.org', text: '' };
  return { ...bare, text: 'x'.repeat(inputBytes - JSON.stringify(bare).length) };
}

/** Milliseconds since some start that all processes of the machine share. */
const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
