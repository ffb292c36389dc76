/** Sessions: what a browser shows instead of a token, in a cookie that no script can read; they end with the server. */
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
  /** The hash of the token with which it began. */
  readonly token: string;
  readonly begun: number;
  used: number;
}

export class Sessions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #random: Random;
  readonly #sessions = new BoundedMap<string, BrowserSession>(sessionsMax);

  constructor(clock: Pick<Clock, 'monotonic'>, random: Random = systemRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The header that gives a browser its session. */
  begin(principal: Principal, token: string): string {
    const id = this.#random.hex(32);
    const now = this.#clock.monotonic();
    this.#sessions.set(id, { principal, token, begun: now, used: now });
    return `${cookieName}=${id}; ${attributes}; Max-Age=${absoluteMs / 1000}`;
  }

  who(cookies: string | undefined): Pick<BrowserSession, 'principal' | 'token'> | null {
    const id = idIn(cookies);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined) return null;
    const now = this.#clock.monotonic();
    if (now - session.used > idleMs || now - session.begun > absoluteMs) {
      this.#sessions.delete(id!);
      return null;
    }
    session.used = now;
    return session;
  }

  /** The header that takes it back. */
  end(cookies: string | undefined): string {
    const id = idIn(cookies);
    if (id !== undefined) this.#sessions.delete(id);
    return `${cookieName}=; ${attributes}; Max-Age=0`;
  }
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

const idIn = (cookies: string | undefined): string | undefined =>
  new RegExp(`(?:^|;\\s*)${cookieName}=([0-9a-f]{64})(?:;|$)`).exec(cookies ?? '')?.[1];
