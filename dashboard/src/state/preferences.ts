/** Display preferences, stored in this browser: the theme and the format of times. */
import { effect, signal, type Signal } from '@preact/signals';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
export const timeModes = ['relative', 'local', 'UTC'] as const;
export type TimeMode = (typeof timeModes)[number];

export const theme = storedChoice<Theme>('theme', themes, 'system');
export const timeMode = storedChoice<TimeMode>('time', timeModes, 'relative');

const systemDark = matchMedia('(prefers-color-scheme: dark)');
/** Whether the dark theme is active, either chosen by the user or set by the system. */
export const isDark = signal(false);

effect(() => {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && systemDark.matches);
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
});
systemDark.addEventListener('change', ({ matches }) => {
  if (theme.value !== 'system') return;
  isDark.value = matches;
  document.documentElement.dataset['theme'] = matches ? 'dark' : 'light';
});

/** Sets the choice to the next value of the list; after the last, to the first. */
export function cycle<T>(values: readonly T[], choice: Signal<T>): void {
  choice.value = values[(values.indexOf(choice.value) + 1) % values.length]!;
}

/** Creates a choice that is stored in the browser. */
function storedChoice<T extends string>(name: string, values: readonly T[], fallback: T): Signal<T> {
  const key = `stint.${name}`;
  const stored = readStored(key) as T | null;
  const choice = signal(stored !== null && values.includes(stored) ? stored : fallback);
  effect(() => writeStored(key, choice.value));
  return choice;
}

/** Reads a stored value; null: none is stored, or the browser blocks storage. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is blocked or full: the value lasts until the page is closed.
  }
}
