/** Saved views: the named queries of list pages, which the server stores for everybody who may read. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RequestArguments, SavedViewView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { currentUrl, href } from '../router.ts';
import { useInterval } from './live.ts';

export type ViewPage = SavedViewView['page'];

/** All saved views: few enough to have them ready on every page. */
export const savedViews = signal<readonly SavedViewView[]>([]);

/** No event announces that somebody has saved a view. */
const reloadMs = 30_000;

/** The saved views of a page, up to date while the component is mounted. */
export function useSavedViews(page: ViewPage): readonly SavedViewView[] {
  useLoadedViews();
  return savedViews.value.filter((view) => view.page === page);
}

export function useLoadedViews(): void {
  useEffect(() => void loadViews(), []);
  useInterval(() => void loadViews(), reloadMs);
}

/** The page itself reports a server that does not answer, so that this need not. */
async function loadViews(): Promise<void> {
  const answer = await call('listViews').catch(() => null);
  if (answer !== null) savedViews.value = answer.items;
}

export async function saveView(name: string, body: RequestArguments<'saveView'>['body']): Promise<void> {
  await call('saveView', { params: { name }, body });
  await loadViews();
}

export async function renameView(name: string, body: RequestArguments<'renameView'>['body']): Promise<void> {
  await call('renameView', { params: { name }, body });
  await loadViews();
}

export async function deleteView(name: string, query: RequestArguments<'deleteView'>['query'] = {}): Promise<void> {
  await call('deleteView', { params: { name }, query });
  await loadViews();
}

export const viewHref = ({ page, query }: Pick<SavedViewView, 'page' | 'query'>): string => `${href(`/${page}`)}?${query}`;

/** The query of the URL as a view stores it: without the place in the list. Empty: nothing is filtered. */
export function currentQuery(): string {
  const query = new URLSearchParams(currentUrl.value.query);
  query.delete('after');
  return query.toString();
}

/** Whether two queries show the same, whatever the order of their parameters. */
export const isSameQuery = (a: string, b: string): boolean => sorted(a) === sorted(b);

function sorted(text: string): string {
  const query = new URLSearchParams(text);
  query.sort();
  return query.toString();
}
