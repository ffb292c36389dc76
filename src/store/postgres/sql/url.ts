/** Parses a PostgreSQL URL: its hosts, Stint's options in its query, and the rest, which goes to the driver. */
import { Refusal } from '../../../refusal.ts';

export interface PostgresUrl {
  /** One URL per host, without Stint's options. */
  readonly hosts: readonly string[];
  /** Whether clients must connect to a server that accepts writes, and not to a standby. */
  readonly isWritable: boolean;
  /** Stint's options from the query, not yet parsed. */
  readonly options: Readonly<Record<string, string>>;
}

/** The query parameters that the driver reads. All others except `target_session_attrs` are options of Stint. */
const driverNames = new Set([
  'application_name', 'client_encoding', 'fallback_application_name', 'host', 'options', 'password', 'port', 'ssl',
  'sslcert', 'sslkey', 'sslmode', 'sslnegotiation', 'sslrootcert', 'uselibpqcompat', 'user',
]);

/**
 * The values of libpq's `target_session_attrs` that Stint supports, and whether each requires a server that accepts
 * writes. libpq's other values ask for a server that only reads, or prefer one.
 */
const sessionAttributes: Readonly<Record<string, boolean>> = { any: false, 'read-write': true, primary: true };

export function parsePostgresUrl(url: string): PostgresUrl {
  const [, scheme, user = '', authority, path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/s.exec(url) ?? [];
  if (scheme === undefined || authority === undefined) {
    throw malformed('use postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  }
  const { driver, options, attributes } = sorted(new URLSearchParams(query));
  const names = authority.split(',');
  const rest = driver.size === 0 ? path : `${path || '/'}?${driver.toString()}`;
  const hosts = names.map((host, index) => checked(`${scheme}${user}${host}${rest}`, host, index));
  return { hosts, isWritable: isWritable(attributes, names.length), options };
}

interface SortedQuery {
  readonly driver: URLSearchParams;
  readonly options: Record<string, string>;
  readonly attributes: string | undefined;
}

function sorted(query: URLSearchParams): SortedQuery {
  const driver = new URLSearchParams();
  const options: Record<string, string> = {};
  for (const [name, value] of query) {
    if (driverNames.has(name)) driver.append(name, value);
    else options[name] = value;
  }
  if (/,/.test(driver.get('host') ?? '')) {
    throw malformed('name several hosts as in postgres://HOST:PORT,HOST:PORT/DATABASE');
  }
  const { target_session_attrs: attributes, ...own } = options;
  return { driver, options: own, attributes };
}

/**
 * Whether clients must connect to a server that accepts writes. By default they must if the URL names several hosts,
 * because usually all but one of the hosts are standbys.
 */
function isWritable(attributes: string | undefined, hosts: number): boolean {
  if (attributes === undefined) return hosts > 1;
  const known = sessionAttributes[attributes];
  if (known !== undefined) return known;
  const values = Object.keys(sessionAttributes).join(', ');
  throw malformed(`target_session_attrs must be one of ${values}, since Stint writes`);
}

/**
 * Returns the URL of one host, or throws if it is invalid. The message shows no part of the URL: if the password
 * contains a slash, a part of the password is parsed as the host.
 */
function checked(url: string, host: string, index: number): string {
  const hasPort = /:\d*$/.test(host);
  if ((host === '' || URL.canParse(url)) && (!hasPort || Number(host.split(':').at(-1)) < 65_536)) return url;
  const cause = 'percent-encode special characters of user and password, and use HOST or HOST:PORT';
  throw malformed(`${cause} (host ${index + 1} is invalid)`);
}

const malformed = (cause: string): Refusal =>
  new Refusal('malformed.store', `cannot read the PostgreSQL URL: ${cause}`);
