/** The form field of a priority. Shows the highest one that the caller may give. */
import type { JSX } from 'preact';
import { me } from '../state/session.ts';
import { TextField } from './field.tsx';

interface PriorityFieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder?: string;
  /** The priority before the change, which the caller need not be allowed to give. */
  readonly before?: string;
}

export function PriorityField({ value, onInput, placeholder, before }: PriorityFieldProps): JSX.Element {
  const max = me.value?.priorityMax ?? null;
  const isTooHigh = max !== null && value !== before && Number(value) > max;
  return (
    <TextField
      label="Priority" hint={max === null ? 'higher starts first' : `higher starts first; you may give up to ${max}`}
      name="priority" type="number" value={value} onInput={onInput} error={isTooHigh ? `at most ${max}` : null}
      {...(placeholder === undefined ? {} : { placeholder })}
    />
  );
}
