/**
 * Makes the clients of a URL, each with one connection. If the URL names several hosts, a new client connects to the
 * host that was last reached. If that host fails or accepts no writes, the next new client tries the next host.
 */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { Refusal } from '../../../refusal.ts';
import type { PgDriver } from './driver.ts';
import { ignore } from './errors.ts';
import type { PostgresUrl } from './url.ts';

/**
 * How long an idle connection is silent before TCP probes it. After ten unanswered probes, a second apart, the
 * connection is reported as broken.
 */
const keepAliveMs = 5_000;
export const connectMaxMs = 5_000;

export type ClientClass = new (config?: pg.ClientConfig) => pg.Client;

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

export function clientClass(
  { hosts, isWritable }: Pick<PostgresUrl, 'hosts' | 'isWritable'>,
  given: PgDriver['Client'] = pg.Client,
): ClientClass {
  for (const host of hosts) checkReadable(host);
  const Client = given as ClientClass;
  let current = 0;
  return class HostClient extends Client {
    readonly #host = current;

    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, connectionString: hosts[current]! });
      // A client whose connection is lost emits `error`. Without this listener, that would end the process. The server
      // can end a connection before or after any statement, even that of `checkWritable`. Running queries also reject.
      this.on('error', ignore);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnected): void;
    override connect(callback?: OnConnected): Promise<pg.Client> | void {
      const connecting = this.#connect();
      if (callback === undefined) return connecting;
      const answer = callback as (error: Error | null, client?: pg.Client) => void;
      connecting.then((client) => answer(null, client), (error: Error) => answer(error));
    }

    async #connect(): Promise<pg.Client> {
      try {
        await super.connect();
        if (isWritable) await checkWritable(this);
        return this;
      } catch (error) {
        if (current === this.#host) current = (current + 1) % hosts.length;
        throw error;
      }
    }
  };
}

/**
 * Refuses a URL that the driver cannot read. The driver parses the URL and reads certificate files when it makes a
 * client.
 */
function checkReadable(connectionString: string): void {
  try {
    new pg.Client({ connectionString });
  } catch (error) {
    throw new Refusal('malformed.store', `cannot read the PostgreSQL URL: ${(error as Error).message}`);
  }
}

/** Throws if the server accepts no writes, for example because it is a standby. The next client tries the next host. */
async function checkWritable(client: pg.Client): Promise<void> {
  const question = { text: 'show transaction_read_only', query_timeout: connectMaxMs };
  const { rows: [row] } = await client.query<{ transaction_read_only: string }>(question);
  if (row!.transaction_read_only === 'off') return;
  await client.end();
  throw new Error('the server accepts no writes');
}

export function clientConfig(ssl: boolean | ConnectionOptions | undefined): pg.ClientConfig {
  return {
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    connectionTimeoutMillis: connectMaxMs,
    application_name: 'stint',
    ...(ssl === undefined ? {} : { ssl }),
    types: rowTypes,
  };
}

const int8 = 20;

const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) =>
  oid === int8 ? safeNumber : pg.types.getTypeParser(oid, format as 'text');

/** How the texts of rows become values. */
export const rowTypes: pg.CustomTypesConfig = { getTypeParser: typeParser };

function safeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new Error(`the database holds ${text}, which is beyond 2^53`);
  return number;
}
