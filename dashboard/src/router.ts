/** The router: the URL is the state. What a page shows follows from its path and query, and nothing else. */
import { signal } from '@preact/signals';

export interface Place {
  /** Below the dashboard's own root, such as `/runs/12`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export type QueryValue = string | number | boolean | readonly string[] | null | undefined;
export type QueryValues = Readonly<Record<string, QueryValue>>;

/** Where the dashboard lies: built scripts stand in `assets/` below it. In development it is `/`. */
export const root = import.meta.env.DEV ? '/' : new URL(/* @vite-ignore */ '..', import.meta.url).pathname;

export const place = signal<Place>(read());

addEventListener('popstate', () => (place.value = read()));

/** Follows links to our own pages without leaving this one. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null;
  if (link === null || link.target !== '' || link.hasAttribute('download') || !isOurs(link)) return;
  event.preventDefault();
  if (link.href !== location.href) visit(link.pathname + link.search);
});

/** The address of one of our pages. */
export function href(path: string, query: QueryValues = {}): string {
  const text = queryText(new URLSearchParams(), query);
  return root + path.replace(/^\//, '') + (text === '' ? '' : `?${text}`);
}

export function go(path: string, query: QueryValues = {}): void {
  visit(href(path, query));
}

/** Changes parts of the query and leaves the rest; null takes a part away. `isStep`: the way back leads here again. */
export function setQuery(changes: QueryValues, isStep = true): void {
  const { path, query } = place.value;
  const text = queryText(query, changes);
  const target = root + path.replace(/^\//, '') + (text === '' ? '' : `?${text}`);
  if (isStep) visit(target);
  else replace(target);
}

/** One value of the query; the empty text where it is not said. */
export const queryOf = (name: string): string => place.value.query.get(name) ?? '';

/** What `/runs/:id` says of a path; null: it does not fit. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const [want, have] = [pattern.split('/'), path.split('/')];
  if (want.length !== have.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of want.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(have[index]!);
    else if (part !== have[index]) return null;
  }
  return params;
}

function visit(target: string): void {
  history.pushState(null, '', target);
  place.value = read();
}

function replace(target: string): void {
  history.replaceState(null, '', target);
  place.value = read();
}

function read(): Place {
  const path = `/${location.pathname.slice(root.length)}`.replace(/(.)\/+$/, '$1');
  return { path, query: new URLSearchParams(location.search) };
}

const isOurs = (link: HTMLAnchorElement): boolean =>
  link.origin === location.origin && link.pathname.startsWith(root) && !link.pathname.startsWith(`${root}api/`);

function queryText(before: URLSearchParams, changes: QueryValues): string {
  const query = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    if (value === null || value === undefined || value === '' || value === false) continue;
    if (Array.isArray(value)) for (const one of value) query.append(name, one);
    else query.set(name, String(value));
  }
  return query.toString();
}
