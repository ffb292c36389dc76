/** Starts the HTTP server of an engine on a port, with tokens from the options, the environment or a file. */
import { existsSync } from 'node:fs';
import { silent, type Logger } from '../logger.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import type { AccessOptions } from './access/access.ts';
import { createHttp, type Http, type HttpOptions } from './server.ts';
import type { Listening, ListenOptions } from './listen.ts';
import { TokenFile } from './access/token-file.ts';
import { tokensPathDefault } from './access/token-path.ts';
import { readTokens } from './access/tokens.ts';

export interface StartOptions extends Omit<HttpOptions, 'access'>, ListenOptions {
  /**
   * The tokens as JSON, or the path of a file with this JSON. Default: the environment variable STINT_TOKENS, or
   * `.stint/tokens.json` if this file exists.
   */
  readonly tokens?: string;
  readonly authenticate?: AccessOptions['authenticate'];
}

export interface Started extends Listening {
  readonly http: Http;
}

/**
 * Starts the server; refuses to listen beyond this machine without tokens or `authenticate`. The engine is neither
 * resumed nor closed.
 */
export async function startHttp({ tokens, authenticate, ...options }: StartOptions): Promise<Started> {
  const { clock = systemClock, logger = silent } = options;
  const access = { tokens: tokensOf(tokens, clock, logger), ...(authenticate ? { authenticate } : {}) };
  const http = createHttp({ ...options, access });
  try {
    const { url, host, port } = await http.listen(options);
    return { http, url, host, port, close: () => http.close() };
  } catch (error) {
    await http.close();
    throw error;
  }
}

function tokensOf(given: string | undefined, clock: Clock, logger: Logger): NonNullable<AccessOptions['tokens']> {
  const found = existsSync(tokensPathDefault) ? tokensPathDefault : '';
  const source = given ?? process.env['STINT_TOKENS'] ?? found;
  if (source.trim() === '' || source.trimStart().startsWith('[')) return readTokens(source);
  const file = new TokenFile(source, clock, logger);
  return () => file.records;
}
