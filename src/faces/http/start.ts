/** Starts the HTTP face of an engine on a port, with tokens from the environment. */
import { createHttp, type Http, type HttpOptions, type Listening, type ListenOptions } from './server.ts';
import { readTokens } from './tokens.ts';

export interface StartOptions extends HttpOptions, ListenOptions {
  /** JSON, or the path of a file that holds it; left out: STINT_TOKENS. */
  readonly tokens?: string;
}

export interface Started extends Listening {
  readonly http: Http;
}

/** Refuses to listen beyond this machine without tokens. The engine stays the caller's to resume and to close. */
export async function startHttp({ tokens, ...options }: StartOptions): Promise<Started> {
  const known = readTokens(tokens ?? process.env['STINT_TOKENS'] ?? '');
  const access = { ...options.access, tokens: [...(options.access?.tokens ?? []), ...known] };
  const http = createHttp({ ...options, access });
  try {
    const { url, host, port } = await http.listen(options);
    return { http, url, host, port, close: () => http.close() };
  } catch (error) {
    await http.close();
    throw error;
  }
}
