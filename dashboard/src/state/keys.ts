/** Keys: what the keyboard does here, by whoever is on the page; also what the help and the palette list. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Shortcut {
  /** One key as `KeyboardEvent.key` names it, or two after each other: `g r`. */
  readonly keys: string;
  /** A few words, such as "Retry". */
  readonly does: string;
  readonly run: () => void;
  /** Left out of the palette: it makes no sense there. */
  readonly isOnlyKey?: boolean;
}

/** Newest last; what a page says goes before what the shell says. */
const layers = signal<readonly (readonly Shortcut[])[]>([]);

export const shortcuts = (): readonly Shortcut[] => layers.value.toReversed().flat();

/** These hold while the component is there, from the moment at which it can be seen. */
export function useShortcuts(own: readonly Shortcut[]): void {
  const latest = useRef(own);
  latest.current = own;
  const key = own.map(({ keys, does }) => `${keys} ${does}`).join('\n');
  useLayoutEffect(() => {
    const layer = own.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() }));
    layers.value = [...layers.peek(), layer];
    return () => {
      layers.value = layers.peek().filter((other) => other !== layer);
    };
  }, [key]);
}

const sequenceMs = 1_200;
let before = '';
let beforeAt = 0;

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const pair = event.timeStamp - beforeAt < sequenceMs ? `${before} ${event.key}` : event.key;
  const found = shortcuts().find(({ keys }) => keys === pair) ?? shortcuts().find(({ keys }) => keys === event.key);
  [before, beforeAt] = [event.key, event.timeStamp];
  if (found === undefined || (event.key === 'Enter' && isControl(event.target))) return;
  event.preventDefault();
  before = '';
  found.run();
});

function isTyping({ target }: KeyboardEvent): boolean {
  const element = target as HTMLElement;
  return element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName) && !isTick(element);
}

const isTick = (element: HTMLElement): boolean => (element as HTMLInputElement).type === 'checkbox';

/** Enter on a link or a button is its own. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a[href], button, [role=tab]') !== null;
