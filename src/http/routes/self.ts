/** The server itself over HTTP: health, metrics, API document, sign-in, tokens and the caller. */
import { version } from '../../version.ts';
import type { Answer } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { openApi } from '../openapi.ts';
import type { Principal } from '../access/principal.ts';

export const selfRoutes: RouteHandlers<'health' | 'metrics' | 'openapi' | 'signIn' | 'signOut' | 'listTokens' | 'me'> = {
  async health({ healthCheck }, _request, call) {
    const reason = await healthCheck.failure();
    if (reason === null) return { status: 'ok', version };
    call.status = 503;
    return { status: 'failing', reason, version };
  },

  async metrics({ metrics }) {
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
    return new Response(await metrics.text(), { headers });
  },

  async openapi() {
    return openApi();
  },

  async signIn({ access }, { body: { token } }, { credentials, headers }) {
    const { principal, cookie } = access.signIn(token, credentials);
    headers.append('set-cookie', cookie);
    return me(principal);
  },

  async signOut({ access }, _request, { credentials, headers }) {
    headers.append('set-cookie', access.sessions.end(credentials.cookie));
    return {};
  },

  async listTokens({ access }) {
    return { items: [...access.holders] };
  },

  async me(_services, _request, { principal }) {
    return me(principal);
  },
};

const me = ({ name, role, isLocal, visibility, expires }: Principal): Answer<'me'> => ({
  name,
  role,
  isLocal,
  seesPayloads: visibility === 'full',
  expires,
});
