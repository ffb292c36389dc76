/** The jobs of the bench: their type, and an input of 200 bytes. */
import type { Draft, NameFilter } from './target.ts';

export const ownType = 'mail.send';
export const ownName: NameFilter = { exact: [ownType] };

const inputBytes = 200;

export const drafts = (count: number, type = ownType): Draft[] =>
  Array.from({ length: count }, () => ({ type, input: input() }));

/** An input with its creation time, measured by `machineMs`. */
export const stampedInput = (): Input => input(machineMs());
export const stampedDraft = (): Draft => ({ type: ownType, input: stampedInput() });

export const ageMs = ({ madeMs }: Input): number => machineMs() - madeMs;

export interface Input {
  readonly madeMs: number;
  readonly to: string;
  readonly text: string;
}

/** `madeMs` is 0 if the age of the job is not measured. */
export function input(madeMs = 0): Input {
  const bare = { madeMs, to: 'someone@example.org', text: '' };
  return { ...bare, text: 'x'.repeat(inputBytes - JSON.stringify(bare).length) };
}

/** Monotonic time in ms, with the same origin in all processes of the machine. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
