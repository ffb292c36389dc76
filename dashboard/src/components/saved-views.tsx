/** The saved views of a list page: links to them, and the buttons that save the current query and change a view. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SavedViewView } from '../../../src/http/contract.ts';
import { plural } from '../format.ts';
import { browserViews, removeBrowserView, shareBrowserViews } from '../state/browser-views.ts';
import { currentQuery, isSameQuery, useSavedViews, viewHref, type ViewPage } from '../state/saved-views.ts';
import { mayOperate, me } from '../state/session.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';
import { SaveView, ViewDetails } from './saved-view-dialogs.tsx';
import { withToast } from './toast.tsx';

/** The dialog that is open: the form for a new view, or the details of a known one. */
type Open = 'save' | SavedViewView;

/** Further views are in a menu, except the one that is shown. */
const shownMax = 8;

export function SavedViews({ page }: { readonly page: ViewPage }): JSX.Element {
  const views = useSavedViews(page);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const query = currentQuery();
  const isCurrent = (view: SavedViewView): boolean => isSameQuery(view.query, query);
  const isSaved = views.some(isCurrent);
  const rest = views.slice(shownMax).filter((view) => !isCurrent(view));
  return (
    <div class="views">
      {views.filter((view) => !rest.includes(view)).map((view) => (
        <ViewChip key={view.name} view={view} isCurrent={isCurrent(view)} onOpen={setOpen} />
      ))}
      {rest.length > 0 && (
        <Menu title={`${rest.length} more`} label={`${rest.length} more saved views`}>
          {rest.map((view) => <a key={view.name} class="menu-item" href={viewHref(view)}>{view.name}</a>)}
        </Menu>
      )}
      {page === 'runs' && <BrowserViews query={query} />}
      {mayOperate.value && query !== '' && !isSaved && (
        <button type="button" class="link" onClick={() => setOpen('save')}>Save view</button>
      )}
      {open === 'save' && <SaveView page={page} query={query} onClose={close} />}
      {open !== null && open !== 'save' && <ViewDetails view={open} onClose={close} />}
    </div>
  );
}

interface ChipProps {
  readonly view: SavedViewView;
  readonly isCurrent: boolean;
  readonly onOpen: (open: Open) => void;
}

function ViewChip({ view, isCurrent, onOpen }: ChipProps): JSX.Element {
  const { name, by } = view;
  return (
    <span class="view-chip" data-current={isCurrent}>
      <a href={viewHref(view)} title={`${name}, saved by ${by}`}>{name}</a>
      <button type="button" aria-label={`Details of view ${name}`} title="Link and details" onClick={() => onOpen(view)}>
        <Icon name="edit" />
      </button>
    </span>
  );
}

function BrowserViews({ query }: { readonly query: string }): JSX.Element | null {
  const views = browserViews.value;
  if (views.length === 0) return null;
  const share = (): Promise<unknown> =>
    withToast(() => shareBrowserViews(me.value?.name ?? 'me'), (count) => `Shared ${plural(count, 'view')}`);
  return (
    <>
      {views.map((view) => (
        <span class="view-chip" key={view.name} data-current={isSameQuery(view.query, query)}>
          <a href={viewHref({ page: 'runs', query: view.query })} title="Stored in this browser only">{view.name}</a>
          <button type="button" aria-label={`Delete view ${view.name}`} onClick={() => removeBrowserView(view.name)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      {mayOperate.value && (
        <button type="button" class="link" onClick={() => void share()}>
          Share {plural(views.length, 'view')} of this browser
        </button>
      )}
    </>
  );
}
