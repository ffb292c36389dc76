/**
 * Access control: identifies a caller by `authenticate`, token, session or address, and checks its role. The default is
 * to deny.
 */
import type { Jobs } from '../../jobs.ts';
import type { Clock } from '../../time/clock.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import type { Role, Route } from '../contract.ts';
import { actor, hasExpired, type Principal } from './principal.ts';
import { HttpRefusal } from '../problems.ts';
import { Sessions, tokenReference } from './sessions.ts';
import { Throttle } from '../../time/throttle.ts';
import { holderOf, isTrusted, type TokenRecord } from './tokens.ts';

/** The parts of a request that identify its sender. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The remote address; null if this server is mounted in another server that does not pass on the address. */
  readonly address: string | null;
}

export interface AccessOptions {
  /** The valid tokens. If this is a function, it is called for every request, so that the list can change. */
  readonly tokens?: readonly TokenRecord[] | (() => readonly TokenRecord[]);
  /**
   * Identifies callers by the sign-in of your own server; called before tokens are checked. If it returns null, the
   * caller has not signed in there, and the token or session cookie of the request is checked.
   */
  readonly authenticate?: (request: Request) => Caller | null | Promise<Caller | null>;
}

/** A caller that `authenticate` has identified. */
export type Caller = Pick<Principal, 'name' | 'role'> & Partial<Principal>;

/** The public fields of a token. */
export interface TokenHolder extends Omit<TokenRecord, 'hash' | 'prefix'> {
  /** When the token was last used, in milliseconds since 1970; null: not since this server started. */
  readonly lastUsed: number | null;
}

const granted: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  producer: ['producer'],
  worker: ['worker'],
  operator: ['operator', 'viewer', 'producer'],
  admin: ['admin', 'operator', 'viewer', 'producer', 'worker'],
};

export const mayUse = (role: Role, route: Pick<Route, 'roles'>): boolean =>
  route.roles === null || route.roles.some((needed) => granted[role].includes(needed));

export const includesRole = (role: Role, needed: Role): boolean => granted[role].includes(needed);

const failuresMax = 20;
/** The refusals of tokens of hand-offs and of questions. */
const wrongSecrets: readonly string[] = ['lost.lease', 'malformed.id', 'unknown.wait'];

export class Access {
  readonly sessions: Sessions;
  /** Returns the valid tokens; null: the server was set up without tokens. */
  readonly #tokens: (() => readonly TokenRecord[]) | null;
  readonly #authenticate: AccessOptions['authenticate'];
  readonly #failures: Throttle;
  readonly #clock: Clock;
  /** By hash: when the token was last used on this server. */
  readonly #used = new Map<string, number>();

  constructor({ tokens = [], authenticate }: AccessOptions, clock: Clock, jobs: Jobs) {
    this.#tokens = typeof tokens === 'function' ? tokens : tokens.length > 0 ? () => tokens : null;
    this.#authenticate = authenticate;
    this.#clock = clock;
    this.#failures = new Throttle(clock, failuresMax);
    this.sessions = new Sessions(jobs, clock);
  }

  /** Whether callers must authenticate; stays true when the last token is revoked. */
  get isSetUp(): boolean {
    return this.#tokens !== null || this.#authenticate !== undefined;
  }

  /** The tokens without their secrets. */
  get holders(): readonly TokenHolder[] {
    return (this.#tokens?.() ?? []).map(({ hash, prefix: _prefix, ...record }) => ({
      ...record,
      lastUsed: this.#used.get(hash) ?? null,
    }));
  }

  /**
   * Identifies the caller or refuses the request. After too many wrong tokens from one address, the refusal says how
   * long to wait.
   */
  async identify(request: Request, credentials: Credentials): Promise<Principal> {
    const principal = await this.#principalOf(request, credentials);
    if (principal !== null && !hasExpired(principal, this.#clock.now())) return principal;
    throw credentials.authorization === undefined ? unauthenticated() : this.#wrongToken(credentials);
  }

  /**
   * Returns whether the caller of a long request still has the same access: its token is neither revoked nor expired,
   * and its name, role and visibility are the same.
   */
  async isUnchanged(principal: Principal, request: Request, credentials: Credentials): Promise<boolean> {
    const now = await this.#principalOf(request, credentials).catch(() => null);
    if (now === null || hasExpired(now, this.#clock.now())) return false;
    return now.name === principal.name && now.role === principal.role && now.visibility === principal.visibility;
  }

  /**
   * Runs `call`, which checks a token of a hand-off or a question that the request contains. A wrong one counts like a
   * wrong access token, so that guessing is throttled.
   */
  async withSecret<T>(credentials: Credentials, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isRefusal(error) || !wrongSecrets.includes(error.code)) throw error;
      const refusal = this.#wrongToken(credentials);
      throw refusal.code === 'too.many' ? refusal : error;
    }
  }

  /** Starts a browser session; refuses a wrong token. The refusal is the same for unknown and for expired tokens. */
  async signIn(
    token: string,
    credentials: Credentials,
  ): Promise<{ readonly principal: Principal; readonly cookie: string }> {
    const record = this.#holderOf(token);
    if (record === null) throw this.#wrongToken(credentials);
    const principal = principalOf(record);
    return { principal, cookie: await this.sessions.begin(record.hash, actor(principal)) };
  }

  async #principalOf(request: Request, credentials: Credentials): Promise<Principal | null> {
    const known = await this.#authenticate?.(request);
    if (known) {
      const visibility = visibilityOf(known.role, isTrusted(known.role));
      return { isLocal: false, visibility, expires: null, ...known };
    }
    const token = /^Bearer ([!-~]{1,500})$/i.exec(credentials.authorization ?? '')?.[1];
    if (token !== undefined) {
      const record = this.#holderOf(token);
      return record && principalOf(record);
    }
    if (credentials.authorization !== undefined) return null;
    const isLocal = !this.isSetUp && isLoopback(credentials.address);
    return (await this.#bySession(credentials)) ?? (isLocal ? local : null);
  }

  /** Returns the principal of the cookie's session; null: there is no session, or its token was revoked. */
  async #bySession({ cookie }: Credentials): Promise<Principal | null> {
    const session = this.#tokens === null ? null : await this.sessions.find(cookie);
    if (session === null) return null;
    const record = this.#tokens?.().find(({ hash }) => tokenReference(hash) === session.token);
    if (record === undefined) return null;
    this.#used.set(record.hash, this.#clock.now());
    return principalOf(record);
  }

  #holderOf(token: string): TokenRecord | null {
    const record = holderOf(this.#tokens?.() ?? [], token, this.#clock.now());
    if (record) this.#used.set(record.hash, this.#clock.now());
    return record;
  }

  /**
   * Counts a wrong token of an address and returns the refusal. Valid tokens are never throttled, because all callers
   * behind a proxy share one address.
   */
  #wrongToken({ address }: Credentials): HttpRefusal {
    const seconds = this.#failures.waitFor(address ?? '');
    this.#failures.count(address ?? '');
    if (seconds === 0) return unauthenticated();
    const message = 'too many wrong tokens from this address; try again later';
    return new HttpRefusal('too.many', message, { 'retry-after': String(seconds) });
  }
}

const local: Principal = { name: 'local', role: 'admin', isLocal: true, visibility: 'full', expires: null };

const principalOf = ({ name, role, seesPayloads, expires }: TokenRecord): Principal => ({
  name,
  role,
  isLocal: false,
  visibility: visibilityOf(role, seesPayloads),
  expires,
});

const visibilityOf = (role: Role, seesPayloads: boolean): Principal['visibility'] =>
  seesPayloads ? 'full' : role === 'producer' ? 'shape' : 'redacted';

export const unauthenticated = (): HttpRefusal =>
  new HttpRefusal('unauthenticated', 'a valid token is required: Authorization: Bearer …', {
    'www-authenticate': 'Bearer',
  });

export const isLoopback = (address: string | null): boolean =>
  address !== null && /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address);

export const isLoopbackName = (host: string): boolean =>
  isLoopback(host.replace(/^\[|\]$/g, '')) || host.toLowerCase() === 'localhost';

export interface BindRequest {
  readonly host: string;
  readonly isSetUp: boolean;
  /** Whether traffic is encrypted, here or by a proxy in front. */
  readonly hasTls: boolean;
  /** Whether the operator allows unencrypted traffic. */
  readonly isInsecure: boolean;
}

/**
 * Throws if the server would listen beyond this machine although callers need not authenticate. Also throws if traffic
 * would be unencrypted, unless `isInsecure` allows it.
 */
export function checkBind({ host, isSetUp, hasTls, isInsecure }: BindRequest): void {
  if (isLoopbackName(host)) return;
  if (!isSetUp) {
    const todo = 'Set STINT_TOKENS or use 127.0.0.1';
    const message = `cannot listen on ${host}: without tokens, anybody could run jobs. ${todo}`;
    throw new Refusal('malformed.option', message, { host });
  }
  if (hasTls || isInsecure) return;
  const todo = 'Use --behind-tls (isBehindTls) if a proxy terminates TLS, or --insecure (isInsecure)';
  const message = `cannot listen on ${host} without TLS. ${todo}`;
  throw new Refusal('malformed.option', message, { host });
}
