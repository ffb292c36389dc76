/** Starts the HTTP face of an engine as `serve` does: tokens from the environment, the dashboard where it was built. */
import { join } from 'node:path';
import { createHttp, type Http, type HttpOptions, type Listening, type ListenOptions } from './server.ts';
import { readTokens } from './tokens.ts';

export interface StartOptions extends HttpOptions, ListenOptions {
  /** JSON, or the path of a file that holds it; left out: STINT_TOKENS. */
  readonly tokens?: string;
}

export interface Started extends Listening {
  readonly http: Http;
}

const builtDashboard = join(import.meta.dirname, '..', '..', '..', 'dashboard', 'dist');

/** Refuses to listen beyond this machine without tokens. The engine stays the caller's to resume and to close. */
export async function startHttp({ tokens = process.env['STINT_TOKENS'], ...options }: StartOptions): Promise<Started> {
  const known = tokens === undefined || tokens === '' ? [] : readTokens(tokens);
  const access = { ...options.access, tokens: [...(options.access?.tokens ?? []), ...known] };
  const http = createHttp({ dashboard: builtDashboard, ...options, access });
  try {
    const { url, host, port } = await http.listen(options);
    return { http, url, host, port, close: () => http.close() };
  } catch (error) {
    await http.close();
    throw error;
  }
}
