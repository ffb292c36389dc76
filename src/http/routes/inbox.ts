/** The inbox over HTTP: requests that programs have written in SQL and that have not become runs. */
import { parseJson } from '../../model/json.ts';
import type { InboxRequest } from '../../store/store.ts';
import { redact, redactText, type Visibility } from '../access/redact.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { act } from './runs.ts';

const pageDefault = 100;

export const inboxRoutes: StoreRouteHandlers<'listInbox' | 'retryInboxRequest' | 'removeInboxRequest'> = {
  async listInbox({ engine }, { query: { limit = pageDefault, ...query } }, { principal: { visibility } }) {
    const requests = await engine.inboxRequests({ ...query, limit });
    const next = requests.length < limit ? null : requests.at(-1)!.id;
    return { items: requests.map((request) => requestView(request, visibility)), next };
  },

  async retryInboxRequest({ engine }, { params: { id }, body: { why } }, { principal }) {
    await engine.retryInboxRequest(id, act(principal, why));
    return {};
  },

  async removeInboxRequest({ engine }, { params: { id }, query: { why } }, { principal }) {
    await engine.removeInboxRequest(id, act(principal, why));
    return {};
  },
};

const requestView = ({ id, at, type, input, options, refused }: InboxRequest, visibility: Visibility) => ({
  id,
  at,
  type,
  input: input === null ? null : redact(parseJson(input), visibility),
  options: redact(parseJson(options), visibility),
  refused: refused && { ...refused, message: redactText(refused.message, visibility) },
});
