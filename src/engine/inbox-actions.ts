/** The inbox for operators: lists its requests, and retries or removes one of them. */
import { checkFields, checkId, checkOneOf, checkWhole } from '../jobs/checks/values.ts';
import { Refusal } from '../refusal.ts';
import type { InboxCounts, InboxQuery, InboxRequest, Store } from '../store/store.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';

const pageDefault = 100;
const pageMax = 1_000;

export class InboxActions {
  readonly #stores: Stores;
  readonly #audit: AuditTrail;

  constructor(stores: Stores, audit: AuditTrail) {
    this.#stores = stores;
    this.#audit = audit;
  }

  async find(query: Partial<InboxQuery> = {}): Promise<readonly InboxRequest[]> {
    const { standing, after = 0, limit = pageDefault } = checkFields('query', query, ['standing', 'after', 'limit']);
    if (standing !== undefined) checkOneOf('standing', standing, ['waiting', 'refused']);
    checkWhole('after', after, 0, Number.MAX_SAFE_INTEGER);
    return this.#store.inboxRequests({ standing, after, limit: checkWhole('limit', limit, 1, pageMax) });
  }

  count(): Promise<InboxCounts> {
    return this.#store.countInbox();
  }

  async retry(id: number, act: ActOptions | undefined): Promise<void> {
    const before = await this.#store.retryInInbox(checkId(id));
    if (before === null) throw unknownRequest(id);
    const after = { ...before, refused: null };
    await this.#record('inbox.retry', auditView(before), auditView(after), act);
  }

  async remove(id: number, act: ActOptions | undefined): Promise<void> {
    const before = await this.#store.removeFromInbox(checkId(id));
    if (before === null) throw unknownRequest(id);
    await this.#record('inbox.remove', auditView(before), null, act);
  }

  get #store(): Store {
    return this.#stores.database.store;
  }

  /** Records an action if the options name a person. */
  async #record(action: string, before: unknown, after: unknown, act: ActOptions | undefined): Promise<void> {
    if (act?.by === undefined) return;
    await this.#stores.database.audit({ action, job: null, def: null, before, after }, this.#audit.asker(act));
  }
}

/** What an audit entry stores of a request: all but the input, as for jobs. */
const auditView = ({ input: _input, ...view }: InboxRequest): unknown => view;

const unknownRequest = (id: number): Refusal =>
  new Refusal('unknown.request', `there is no request ${id} in the inbox: it may have become a run`, { id });
