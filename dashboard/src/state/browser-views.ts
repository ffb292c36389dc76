/** Browser views: searches of runs that earlier versions of the dashboard stored in this browser only. */
import { signal } from '@preact/signals';
import { ApiProblem } from '../api.ts';
import { readStored, writeStored } from './preferences.ts';
import { isSameQuery, savedViews, saveView } from './saved-views.ts';

export interface BrowserView {
  readonly name: string;
  /** The query of the list of runs. */
  readonly query: string;
}

const key = 'stint.views';
const nameMax = 100;

export const browserViews = signal<readonly BrowserView[]>(read());

export const removeBrowserView = (name: string): void => write(browserViews.value.filter((view) => view.name !== name));

/**
 * Saves the views of this browser on the server; each that is there is removed here. A name that is in use gets the name
 * of the user behind it. Returns how many were shared.
 */
export async function shareBrowserViews(user: string): Promise<number> {
  const views = browserViews.value;
  for (const view of views) {
    await share(view, user);
    removeBrowserView(view.name);
  }
  return views.length;
}

async function share({ name, query }: BrowserView, user: string): Promise<void> {
  const own = name.trim().slice(0, nameMax);
  try {
    await saveView(own, { page: 'runs', query, version: 0 });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'taken.view') throw error;
    const isShared = savedViews.value.some((view) => view.name === own && view.page === 'runs' && isSameQuery(view.query, query));
    if (!isShared) await saveView(`${own.slice(0, nameMax / 2)} (${user.slice(0, nameMax / 4)})`, { page: 'runs', query });
  }
}

function write(views: readonly BrowserView[]): void {
  browserViews.value = views;
  writeStored(key, JSON.stringify(views.map(({ name, query }) => ({ name, search: new URLSearchParams(query).get('search') ?? '' }))));
}

function read(): readonly BrowserView[] {
  const stored = parsed(readStored(key) ?? '[]');
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((view: { name?: unknown; search?: unknown } | null) =>
    (typeof view?.name === 'string' && view.name.trim() !== '' && typeof view.search === 'string'
      ? [{ name: view.name, query: new URLSearchParams({ search: view.search }).toString() }] : []));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}
