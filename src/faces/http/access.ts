/** Access: who asks, by token, session or place, and whether a route is open to them. What is not said is denied. */
import type { Clock } from '../../time/clock.ts';
import { Refusal } from '../../refusal.ts';
import type { Role, Route } from './contract.ts';
import type { Principal } from './principal.ts';
import { HttpRefusal } from './problems.ts';
import { Sessions } from './sessions.ts';
import { Throttle } from './throttle.ts';
import { holderOf, type TokenRecord } from './tokens.ts';

/** What of a request tells who asks. */
export interface Visit {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Where it comes from; null: the server that hands it in does not say. */
  readonly address: string | null;
}

export interface AccessOptions {
  readonly tokens?: readonly TokenRecord[];
  /** Asked first, where Stint is part of another server: who this is, or null. */
  readonly authenticate?: (request: Request) => Principal | null | Promise<Principal | null>;
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
  readonly #tokens: readonly TokenRecord[];
  readonly #authenticate: AccessOptions['authenticate'];
  readonly #failures: Throttle;
  readonly #clock: Clock;

  constructor({ tokens = [], authenticate }: AccessOptions, clock: Clock) {
    this.#tokens = tokens;
    this.#authenticate = authenticate;
    this.#clock = clock;
    this.#failures = new Throttle(clock, failuresMax);
    this.sessions = new Sessions(clock);
  }

  /** Whether anybody has to show anything. */
  get isSetUp(): boolean {
    return this.#tokens.length > 0 || this.#authenticate !== undefined;
  }

  /** Who asks. Strangers are refused, and after too many wrong tokens from one address they are kept waiting. */
  async who(request: Request, visit: Visit): Promise<Principal> {
    const principal = await this.#recognise(request, visit);
    if (principal !== null && (principal.expires === null || principal.expires > this.#clock.now())) return principal;
    throw visit.authorization === undefined ? stranger() : this.#wrongToken(visit);
  }

  /** The holder of a token that was shown in a form. The same answer for an unknown one and a wrong one. */
  byToken(token: string, visit: Visit): Principal {
    const record = holderOf(this.#tokens, token, this.#clock.now());
    if (record !== null) return principalOf(record);
    throw this.#wrongToken(visit);
  }

  async #recognise(request: Request, visit: Visit): Promise<Principal | null> {
    const known = await this.#authenticate?.(request);
    if (known) return known;
    const token = /^Bearer ([!-~]{1,500})$/i.exec(visit.authorization ?? '')?.[1];
    if (token !== undefined) {
      const record = holderOf(this.#tokens, token, this.#clock.now());
      return record && principalOf(record);
    }
    if (visit.authorization !== undefined) return null;
    const isLocal = !this.isSetUp && isLoopback(visit.address);
    return this.sessions.who(visit.cookie) ?? (isLocal ? local : null);
  }

  /** Right tokens are never kept waiting: behind a proxy, all have one address. */
  #wrongToken({ address }: Visit): HttpRefusal {
    const seconds = this.#failures.waitFor(address ?? '');
    this.#failures.count(address ?? '');
    if (seconds === 0) return stranger();
    const message = 'too many wrong tokens came from this address';
    return new HttpRefusal('too.many', message, { 'retry-after': String(seconds) });
  }
}

const local: Principal = { name: 'local', role: 'admin', isLocal: true, sight: 'full', expires: null };

const principalOf = ({ name, role, seesPayloads, expires }: TokenRecord): Principal => ({
  name,
  role,
  isLocal: false,
  sight: seesPayloads ? 'full' : role === 'producer' ? 'shape' : 'redacted',
  expires,
});

const stranger = (): HttpRefusal =>
  new HttpRefusal('unauthenticated', 'show a token that is valid here: Authorization: Bearer …', {
    'www-authenticate': 'Bearer',
  });

export const isLoopback = (address: string | null): boolean =>
  address !== null && /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address);

export const isLoopbackName = (host: string): boolean =>
  isLoopback(host.replace(/^\[|\]$/g, '')) || host.toLowerCase() === 'localhost';

/** What a bind to the world must have. */
export interface BindAsk {
  readonly host: string;
  readonly isSetUp: boolean;
  /** Whether traffic is encrypted, here or by a proxy in front. */
  readonly hasTls: boolean;
  /** An operator's word that it need not be. */
  readonly isInsecure: boolean;
}

/** Refuses to be open to the world: nobody unknown may ask, and no token travels in the clear unless that is said. */
export function checkBind({ host, isSetUp, hasTls, isInsecure }: BindAsk): void {
  if (isLoopbackName(host)) return;
  if (!isSetUp) {
    const message = `cannot listen on ${host}: with no token anybody could run jobs. Set STINT_TOKENS or use 127.0.0.1`;
    throw new Refusal('malformed.option', message, { host });
  }
  if (hasTls || isInsecure) return;
  const message = `cannot listen on ${host} without TLS: say that a proxy in front has it, or that you do without it`;
  throw new Refusal('malformed.option', message, { host });
}
