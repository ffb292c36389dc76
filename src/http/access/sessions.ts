/** Browser sessions: a cookie that scripts cannot read replaces the token. They are kept in memory only. */
import { systemRandom, type Random } from '../../random.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import type { Clock } from '../../time/clock.ts';
import type { Principal } from './principal.ts';

export const cookieName = '__Host-stint';

const idleMs = 8 * 3_600_000;
const absoluteMs = 7 * 24 * 3_600_000;
const sessionsMax = 10_000;

interface BrowserSession {
  readonly principal: Principal;
  /** The hash of the token that started the session. */
  readonly token: string;
  readonly startedAt: number;
  usedAt: number;
}

export class Sessions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  readonly #sessions = new BoundedMap<string, BrowserSession>(sessionsMax);

  constructor(clock: Pick<Clock, 'monotonic'>, random: Random = systemRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Starts a session; returns its Set-Cookie header. */
  begin(principal: Principal, token: string): string {
    const id = this.#random.hex(32);
    const now = this.#clock.monotonic();
    this.#sessions.set(id, { principal, token, startedAt: now, usedAt: now });
    return `${cookieName}=${id}; ${attributes}; Max-Age=${absoluteMs / 1000}`;
  }

  find(cookies: string | undefined): Pick<BrowserSession, 'principal' | 'token'> | null {
    const id = idIn(cookies);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined) return null;
    const now = this.#clock.monotonic();
    if (now - session.usedAt > idleMs || now - session.startedAt > absoluteMs) {
      this.#sessions.delete(id!);
      return null;
    }
    session.usedAt = now;
    return session;
  }

  /** Ends a session; returns the Set-Cookie header that removes the cookie. */
  end(cookies: string | undefined): string {
    const id = idIn(cookies);
    if (id !== undefined) this.#sessions.delete(id);
    return `${cookieName}=; ${attributes}; Max-Age=0`;
  }
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

const idIn = (cookies: string | undefined): string | undefined =>
  new RegExp(`(?:^|;\\s*)${cookieName}=([0-9a-f]{64})(?:;|$)`).exec(cookies ?? '')?.[1];
