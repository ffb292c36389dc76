/** Saved views of the dashboard: lists, saves, renames and deletes them. */
import {
  checkViewName, checkViewPage, checkViewQuery, readViews, unknownView, writeView, type SavedView, type ViewChange,
} from '../jobs/saved-views.ts';
import { checkFields, checkWhole } from '../jobs/checks/values.ts';
import type { SavedViewPage } from '../model/saved-view.ts';
import { Refusal } from '../refusal.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';

export interface ViewRequest {
  readonly page: SavedViewPage;
  /** The query of the URL of the page, without `?`, such as `search=state%3Afailed`. */
  readonly query: string;
  /**
   * The version that was read: if the view has another one by now, the request is refused. 0: refused if there is a view
   * with this name. Default: the view is replaced.
   */
  readonly version?: number;
}

export class SavedViewActions {
  readonly #stores: Stores;
  readonly #audit: AuditTrail;

  constructor(stores: Stores, audit: AuditTrail) {
    this.#stores = stores;
    this.#audit = audit;
  }

  async list(page?: SavedViewPage): Promise<readonly SavedView[]> {
    if (page !== undefined) checkViewPage(page);
    const views = await readViews(this.#stores.database.store);
    return views.filter((view) => page === undefined || view.page === page);
  }

  async show(name: string): Promise<SavedView> {
    checkViewName(name);
    const found = (await readViews(this.#stores.database.store)).find((view) => view.name === name);
    if (found === undefined) throw unknownView(name);
    return found;
  }

  async save(name: string, request: ViewRequest, act: ActOptions | undefined): Promise<SavedView> {
    checkViewName(name);
    const { version, ...given } = checkFields('a view', request, ['page', 'query', 'version']);
    const [page, query] = [checkViewPage(given.page), checkViewQuery(given.query)];
    if (version !== undefined) checkWhole('version', version, 0, Number.MAX_SAFE_INTEGER);
    await this.#write('view.save', act, (known, saved) => {
      const before = known.get(name) ?? null;
      if (version !== undefined && version !== (before?.version ?? 0)) throw version === 0 ? taken(name) : stale(name);
      return before?.page === page && before.query === query ? null : { before, after: { name, page, query, ...saved } };
    });
    return this.show(name);
  }

  /** Gives a view another name, in one commit. Refused if the other name is in use. */
  async rename(name: string, renamed: string, act: ActOptions | undefined): Promise<SavedView> {
    checkViewName(name);
    checkViewName(renamed);
    await this.#write('view.rename', act, (known, saved) => {
      const before = known.get(name);
      if (before === undefined) throw unknownView(name);
      if (name === renamed) return null;
      if (known.has(renamed)) throw taken(renamed);
      return { before, after: { name: renamed, page: before.page, query: before.query, ...saved } };
    });
    return this.show(renamed);
  }

  async delete(name: string, act: ActOptions | undefined): Promise<void> {
    checkViewName(name);
    await this.#write('view.delete', act, (known) => {
      const before = known.get(name);
      if (before === undefined) throw unknownView(name);
      return { before, after: null };
    });
  }

  async #write(
    action: string,
    act: ActOptions | undefined,
    decide: (known: ReadonlyMap<string, SavedView>, saved: { readonly by: string; readonly at: number }) => ViewChange | null,
  ): Promise<void> {
    const { database } = this.#stores;
    const asker = this.#audit.asker(act);
    await writeView(database, { action, asker, isRecorded: act?.by !== undefined }, (known) =>
      decide(known, { by: asker.by, at: database.store.now() }));
  }
}

const taken = (name: string): Refusal =>
  new Refusal('taken.view', `there is a saved view ${JSON.stringify(name)} already: choose another name`, { name });

const stale = (name: string): Refusal =>
  new Refusal('stale.view', `somebody has saved or deleted the view ${JSON.stringify(name)} meanwhile: read it again`, { name });
