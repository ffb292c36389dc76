/** Saved views: named searches of the list of runs, stored in this browser. To share one, share its URL. */
import { signal } from '@preact/signals';
import { readStored, writeStored } from './preferences.ts';

export interface SavedView {
  readonly name: string;
  readonly search: string;
}

const key = 'stint.views';
const viewsMax = 20;

export const savedViews = signal<readonly SavedView[]>(read());

export function saveView(view: SavedView): void {
  write([view, ...savedViews.value.filter(({ name }) => name !== view.name)].slice(0, viewsMax));
}

export const deleteView = (name: string): void => write(savedViews.value.filter((view) => view.name !== name));

function write(views: readonly SavedView[]): void {
  savedViews.value = views;
  writeStored(key, JSON.stringify(views));
}

function read(): readonly SavedView[] {
  const stored: unknown = JSON.parse(readStored(key) ?? '[]');
  const isView = ({ name, search }: SavedView): boolean => Boolean(name) && typeof search === 'string';
  return Array.isArray(stored) ? (stored as SavedView[]).filter(isView) : [];
}
