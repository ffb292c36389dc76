/** Preferences of whoever looks, kept in this browser: theme and how times are told. */
import { effect, signal, type Signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const timeModes = ['relative', 'local', 'UTC'] as const;
export type TimeMode = (typeof timeModes)[number];

export const theme = kept<Theme>('theme', themes, 'system');
export const timeMode = kept<TimeMode>('time', timeModes, 'relative');

const darkSystem = matchMedia('(prefers-color-scheme: dark)');
/** Whether it is dark now, whoever decided that. */
export const isDark = signal(false);

effect(() => {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && darkSystem.matches);
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
});
darkSystem.addEventListener('change', ({ matches }) => {
  if (theme.value !== 'system') return;
  isDark.value = matches;
  document.documentElement.dataset['theme'] = matches ? 'dark' : 'light';
});

/** The next of a list, around and around. */
export function cycle<T>(values: readonly T[], choice: Signal<T>): void {
  choice.value = values[(values.indexOf(choice.value) + 1) % values.length]!;
}

/** A choice that a later visit finds again. */
function kept<T extends string>(name: string, values: readonly T[], fallback: T): Signal<T> {
  const key = `stint.${name}`;
  const stored = recall(key) as T | null;
  const choice = signal(stored !== null && values.includes(stored) ? stored : fallback);
  effect(() => remember(key, choice.value));
  return choice;
}

/** Storage may be closed to us: then it is as on the first visit. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Then it holds for this visit.
  }
}
