/**
 * Browser sessions: a cookie that scripts cannot read replaces the token. A session is stored as the audit record of
 * its sign-in, which is found by the hash of the cookie. The session is therefore valid on every server of the store,
 * and after a restart.
 */
import { createHash } from 'node:crypto';
import type { Jobs } from '../../jobs.ts';
import { parseJson } from '../../model/json.ts';
import { systemRandom, type Random } from '../../random.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import type { Clock } from '../../time/clock.ts';

export const cookieName = '__Host-stint';

/**
 * The lifetime of the cookie. Every call of `/me` renews the cookie, so the browser deletes it only after this time
 * without a visit, or `absoluteMs` after the sign-in.
 */
const idleMs = 8 * 3_600_000;
const absoluteMs = 7 * 24 * 3_600_000;
/**
 * How long a session that was read from the store is cached. After a sign-out, other servers accept the cookie for up
 * to this time.
 */
const cachedMs = 5_000;
const cachedMax = 10_000;

export interface BrowserSession {
  /** The first digits of the hash of the token that started the session. */
  readonly token: string;
  readonly startedAt: number;
}

const tokenDigits = 16;

export const tokenReference = (hash: string): string => hash.slice(0, tokenDigits);

export class Sessions {
  readonly #jobs: Jobs;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  readonly #cached =
    new BoundedMap<string, { readonly session: BrowserSession | null; readonly until: number }>(cachedMax);

  constructor(jobs: Jobs, clock: Pick<Clock, 'monotonic'>, random: Random = systemRandom) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#random = random;
  }

  /** Starts a session; returns its Set-Cookie header. */
  async begin(hash: string, by: string): Promise<string> {
    const id = this.#random.hex(32);
    const key = { key: begunKey(id), forMs: absoluteMs };
    await this.#jobs.audit({ ...noTarget, action: 'sign in', after: { token: tokenReference(hash) } }, { by }, key);
    return cookieOf(id, idleMs);
  }

  async find(cookies: string | undefined): Promise<BrowserSession | null> {
    const id = idIn(cookies);
    if (id === undefined) return null;
    const now = this.#clock.monotonic();
    const cached = this.#cached.get(id);
    if (cached !== undefined && cached.until > now) return cached.session;
    const session = await this.#load(id);
    this.#cached.set(id, { session, until: now + cachedMs });
    return session;
  }

  /**
   * Returns the Set-Cookie header that renews the cookie, up to `absoluteMs` after the sign-in; null: there is no
   * session.
   */
  async renew(cookies: string | undefined): Promise<string | null> {
    const session = await this.find(cookies);
    if (session === null) return null;
    const leftMs = session.startedAt + absoluteMs - this.#jobs.store.now();
    return cookieOf(idIn(cookies)!, Math.max(0, Math.min(idleMs, leftMs)));
  }

  /** Ends a session; returns the Set-Cookie header that removes the cookie. */
  async end(cookies: string | undefined, by: string): Promise<string> {
    const id = idIn(cookies);
    if (id !== undefined && (await this.find(cookies)) !== null) {
      await this.#jobs.audit({ ...noTarget, action: 'sign out' }, { by }, { key: endedKey(id), forMs: absoluteMs });
      this.#cached.set(id, { session: null, until: Infinity });
    }
    return cookieOf('', 0);
  }

  async #load(id: string): Promise<BrowserSession | null> {
    const { store } = this.#jobs;
    const records = await store.jobsByKey([begunKey(id), endedKey(id)]);
    const record = records.get(begunKey(id));
    if (record === undefined || records.has(endedKey(id))) return null;
    const [job] = await store.load([record]);
    if (job === undefined || job.created + absoluteMs <= store.now()) return null;
    const { after } = parseJson(job.input) as { readonly after: { readonly token: string } };
    return { token: after.token, startedAt: job.created };
  }
}

const noTarget = { job: null, def: null, before: null, after: null } as const;

/** The digest of a session id. Only the digest is stored, so that a reader of the database cannot use the session. */
const digest = (id: string): string => createHash('sha256').update(id).digest('hex');
const begunKey = (id: string): string => `stint session ${digest(id)}`;
const endedKey = (id: string): string => `stint session ended ${digest(id)}`;

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

const cookieOf = (id: string, ageMs: number): string =>
  `${cookieName}=${id}; ${attributes}; Max-Age=${Math.floor(ageMs / 1000)}`;

const idIn = (cookies: string | undefined): string | undefined =>
  new RegExp(`(?:^|;\\s*)${cookieName}=([0-9a-f]{64})(?:;|$)`).exec(cookies ?? '')?.[1];
