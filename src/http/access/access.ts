/** Access: who asks, by token, session or place, and whether a route is open to them. What is not said is denied. */
import type { Clock } from '../../time/clock.ts';
import { Refusal } from '../../refusal.ts';
import type { Role, Route } from '../contract.ts';
import type { Principal } from './principal.ts';
import { HttpRefusal } from '../problems.ts';
import { Sessions } from './sessions.ts';
import { Throttle } from './throttle.ts';
import { holderOf, isTrusted, type TokenRecord } from './tokens.ts';

/** The parts of a request that identify its sender. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Where it comes from; null: the server that hands it in does not say. */
  readonly address: string | null;
}

export interface AccessOptions {
  /** Those that count now; a list that changes is asked for with every request. */
  readonly tokens?: readonly TokenRecord[] | (() => readonly TokenRecord[]);
  /** Asked first, where Stint is part of another server: who this is, or null. */
  readonly authenticate?: (request: Request) => Caller | null | Promise<Caller | null>;
}

/** Whoever another server knows: a name, a role, and what else there is to say. */
export type Caller = Pick<Principal, 'name' | 'role'> & Partial<Principal>;

/** What may be told of a token. */
export interface TokenHolder extends Omit<TokenRecord, 'hash' | 'prefix'> {
  /** Null: not since this server started. */
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

const failuresMax = 20;

export class Access {
  readonly sessions: Sessions;
  /** Null: none were set up. */
  readonly #tokens: (() => readonly TokenRecord[]) | null;
  readonly #authenticate: AccessOptions['authenticate'];
  readonly #failures: Throttle;
  readonly #clock: Clock;
  /** When each was last shown here, by its hash. */
  readonly #used = new Map<string, number>();

  constructor({ tokens = [], authenticate }: AccessOptions, clock: Clock) {
    this.#tokens = typeof tokens === 'function' ? tokens : tokens.length > 0 ? () => tokens : null;
    this.#authenticate = authenticate;
    this.#clock = clock;
    this.#failures = new Throttle(clock, failuresMax);
    this.sessions = new Sessions(clock);
  }

  /** Whether anybody has to show anything; also when the last of the tokens was taken back. */
  get isSetUp(): boolean {
    return this.#tokens !== null || this.#authenticate !== undefined;
  }

  /** The tokens that were set up, without what is secret; `lastUsed` since this server started. */
  get holders(): readonly TokenHolder[] {
    return (this.#tokens?.() ?? []).map(({ hash, prefix: _prefix, ...record }) => ({
      ...record,
      lastUsed: this.#used.get(hash) ?? null,
    }));
  }

  /** Who asks. Strangers are refused, and after too many wrong tokens from one address they are kept waiting. */
  async who(request: Request, credentials: Credentials): Promise<Principal> {
    const principal = await this.#recognise(request, credentials);
    if (principal !== null && (principal.expires === null || principal.expires > this.#clock.now())) return principal;
    throw credentials.authorization === undefined ? stranger() : this.#wrongToken(credentials);
  }

  /** A session for the holder of a token that was shown in a form: its cookie. Unknown and wrong are one answer. */
  signIn(token: string, credentials: Credentials): { readonly principal: Principal; readonly cookie: string } {
    const record = this.#holderOf(token);
    if (record === null) throw this.#wrongToken(credentials);
    const principal = principalOf(record);
    return { principal, cookie: this.sessions.begin(principal, record.hash) };
  }

  async #recognise(request: Request, credentials: Credentials): Promise<Principal | null> {
    const known = await this.#authenticate?.(request);
    if (known) return { isLocal: false, visibility: visibilityOf(known.role, isTrusted(known.role)), expires: null, ...known };
    const token = /^Bearer ([!-~]{1,500})$/i.exec(credentials.authorization ?? '')?.[1];
    if (token !== undefined) {
      const record = this.#holderOf(token);
      return record && principalOf(record);
    }
    if (credentials.authorization !== undefined) return null;
    const isLocal = !this.isSetUp && isLoopback(credentials.address);
    return this.#bySession(credentials) ?? (isLocal ? local : null);
  }

  /** A session lasts no longer than the token with which it began. */
  #bySession({ cookie }: Credentials): Principal | null {
    const session = this.sessions.who(cookie);
    const isKnown = session !== null && this.#tokens?.().some(({ hash }) => hash === session.token);
    if (!isKnown) return null;
    this.#used.set(session.token, this.#clock.now());
    return session.principal;
  }

  #holderOf(token: string): TokenRecord | null {
    const record = holderOf(this.#tokens?.() ?? [], token, this.#clock.now());
    if (record) this.#used.set(record.hash, this.#clock.now());
    return record;
  }

  /** Right tokens are never kept waiting: behind a proxy, all have one address. */
  #wrongToken({ address }: Credentials): HttpRefusal {
    const seconds = this.#failures.waitFor(address ?? '');
    this.#failures.count(address ?? '');
    if (seconds === 0) return stranger();
    const message = 'too many wrong tokens came from this address';
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

const stranger = (): HttpRefusal =>
  new HttpRefusal('unauthenticated', 'show a token that is valid here: Authorization: Bearer …', {
    'www-authenticate': 'Bearer',
  });

export const isLoopback = (address: string | null): boolean =>
  address !== null && /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address);

export const isLoopbackName = (host: string): boolean =>
  isLoopback(host.replace(/^\[|\]$/g, '')) || host.toLowerCase() === 'localhost';

/** What a bind to the world must have. */
export interface BindRequest {
  readonly host: string;
  readonly isSetUp: boolean;
  /** Whether traffic is encrypted, here or by a proxy in front. */
  readonly hasTls: boolean;
  /** An operator's word that it need not be. */
  readonly isInsecure: boolean;
}

/** Refuses to be open to the world: nobody unknown may ask, and no token travels in the clear unless that is said. */
export function checkBind({ host, isSetUp, hasTls, isInsecure }: BindRequest): void {
  if (isLoopbackName(host)) return;
  if (!isSetUp) {
    const message = `cannot listen on ${host}: with no token anybody could run jobs. Set STINT_TOKENS or use 127.0.0.1`;
    throw new Refusal('malformed.option', message, { host });
  }
  if (hasTls || isInsecure) return;
  const message = `cannot listen on ${host} without TLS: say that a proxy in front has it, or that you do without it`;
  throw new Refusal('malformed.option', message, { host });
}
