/** Routes about the server itself: health, metrics, OpenAPI document, sign-in, tokens and the caller. */
import type { Answer } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { healthOf } from '../health-check.ts';
import { openApi } from '../openapi.ts';
import { actor, type Principal } from '../access/principal.ts';
import { priorityMaxOf, type PriorityLimits } from '../access/priority.ts';

type SelfRoutes = RouteHandlers<
  'health' | 'storeHealth' | 'metrics' | 'openapi' | 'signIn' | 'signOut' | 'listTokens' | 'me'
>;

export const selfRoutes: SelfRoutes = {
  async health({ healthCheck }, _request, call) {
    const health = await healthOf(healthCheck);
    if (health.status !== 'ok') call.status = 503;
    return health;
  },

  async storeHealth({ engine }) {
    const { bytes, logBytes, oldestTransactionMs, pool, connections, bloat } = await engine.jobs.store.health();
    const parts = bloat.map(({ part: name, live, dead }) => ({ name, live, dead }));
    return {
      bytes, logBytes, oldestTransactionMs, pool: pool && { ...pool }, connections: connections && { ...connections },
      parts,
    };
  },

  async metrics({ metrics }) {
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
    return new Response(await metrics.text(), { headers });
  },

  async openapi() {
    return openApi();
  },

  async signIn({ access, priorities }, { body: { token } }, { credentials, headers }) {
    const { principal, cookie } = await access.signIn(token, credentials);
    headers.append('set-cookie', cookie);
    return me(principal, priorities);
  },

  async signOut({ access }, _request, { principal, credentials, headers }) {
    headers.append('set-cookie', await access.sessions.end(credentials.cookie, actor(principal)));
    return {};
  },

  async listTokens({ access }) {
    return { items: [...access.holders] };
  },

  async me({ access, priorities }, _request, { principal, credentials, headers }) {
    const renewed = credentials.authorization === undefined ? await access.sessions.renew(credentials.cookie) : null;
    if (renewed !== null) headers.append('set-cookie', renewed);
    return me(principal, priorities);
  },
};

function me(principal: Principal, priorities: PriorityLimits): Answer<'me'> {
  const { name, role, isLocal, visibility, expires } = principal;
  const priorityMax = priorityMaxOf(principal, priorities);
  return { name, role, isLocal, seesPayloads: visibility === 'full', expires, priorityMax };
}
