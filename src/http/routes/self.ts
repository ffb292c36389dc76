/** The server about itself, and about whoever asks. */
import { version } from '../../version.ts';
import type { Answer } from '../contract.ts';
import type { Handling } from '../handler.ts';
import { openApi } from '../openapi.ts';
import type { Principal } from '../access/principal.ts';

export const selfRoutes: Handling<'health' | 'metrics' | 'openapi' | 'signIn' | 'signOut' | 'listTokens' | 'me'> = {
  async health({ engine }, _ask, call) {
    const isReached = await engine.jobs.store.feedEnd().then(() => true, () => false);
    if (!isReached) call.status = 503;
    return { status: isReached ? 'ok' : 'failing', version };
  },

  async metrics({ figures }) {
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
    return new Response(await figures.text(), { headers });
  },

  async openapi() {
    return openApi();
  },

  async signIn({ access }, { body: { token } }, { visit, headers }) {
    const { principal, cookie } = access.signIn(token, visit);
    headers.append('set-cookie', cookie);
    return me(principal);
  },

  async signOut({ access }, _ask, { visit, headers }) {
    headers.append('set-cookie', access.sessions.end(visit.cookie));
    return {};
  },

  async listTokens({ access }) {
    return { items: [...access.holders] };
  },

  async me(_desk, _ask, { principal }) {
    return me(principal);
  },
};

const me = ({ name, role, isLocal, sight, expires }: Principal): Answer<'me'> => ({
  name,
  role,
  isLocal,
  seesPayloads: sight === 'full',
  expires,
});
