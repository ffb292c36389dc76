/** Toasts: short messages about an action that was just done or failed. Screen readers announce them. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { messageOf } from '../problem.ts';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
  readonly link?: { readonly href: string; readonly text: string };
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 7_000;
let count = 0;

export function showToast(text: string, link?: Toast['link']): void {
  add({ id: ++count, kind: 'done', text, ...(link === undefined ? {} : { link }) });
}

export function showError(error: unknown): void {
  add({ id: ++count, kind: 'failed', text: messageOf(error) });
}

/** Performs an action and shows a toast: the text of `done`, or the error. Returns the outcome; null: an error. */
export async function withToast<T>(work: () => Promise<T>, done?: (outcome: T) => string): Promise<T | null> {
  try {
    const outcome = await work();
    if (done !== undefined) showToast(done(outcome));
    return outcome;
  } catch (error) {
    showError(error);
    return null;
  }
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text, link }) => (
        <div class="toast" data-kind={kind} key={id}>
          <Icon name={kind === 'done' ? 'succeeded' : 'failures'} />
          <span>{text}</span>
          {link && <a href={link.href}>{link.text}</a>}
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}

function add(toast: Toast): void {
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => remove(toast.id), shownMs);
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
