/** Saved views of a list: a name for a query, kept in this browser. The URL itself is what can be passed on. */
import { signal } from '@preact/signals';
import { recall, remember } from './preferences.ts';

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

export const forgetView = (name: string): void => write(savedViews.value.filter((view) => view.name !== name));

function write(views: readonly SavedView[]): void {
  savedViews.value = views;
  remember(key, JSON.stringify(views));
}

function read(): readonly SavedView[] {
  const kept: unknown = JSON.parse(recall(key) ?? '[]');
  const isView = ({ name, search }: SavedView): boolean => Boolean(name) && typeof search === 'string';
  return Array.isArray(kept) ? (kept as SavedView[]).filter(isView) : [];
}
