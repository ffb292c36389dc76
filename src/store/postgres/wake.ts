/**
 * Wakes listeners when jobs may have become claimable: at once in this process, by NOTIFY in others. Only a hint.
 * NOTIFY takes a lock of the whole cluster when it commits: it goes right behind a write, never inside it, and not more
 * often than every few milliseconds. Of a lone new run the hint says what a claim needs to know.
 */
import pg from 'pg';
import { systemRandom } from '../../random.ts';
import type { Change } from '../../model/change.ts';
import { systemClock } from '../../time/clock.ts';
import { clientConfig, ignore, type Connection, type ConnectionSettings, type Session } from './sql/connection.ts';
import { claimHintText, parseClaimHint, type ClaimHint } from './write/claim-hint.ts';

const pauseMs = 5;
/** The server takes no hint of 8,000 bytes; one that says so much would say nothing. */
const detailsCharsMax = 2_000;
const reconnectMaxMs = 10_000;

export interface WakeSettings extends Pick<ConnectionSettings, 'schema' | 'ssl'> {
  /** Where to listen: a pooler cannot be listened through. */
  readonly url: string;
  readonly notify: boolean;
}

/** What others told of; null: who knows what. */
export type OnHint = (hinted: ClaimHint | null) => void;

export class Wake {
  readonly #connection: Connection;
  readonly #settings: WakeSettings;
  readonly #channel: string;
  /** What comes from ourselves was heard already. */
  readonly #ownTag = systemRandom.hex(8);
  readonly #onHint: OnHint;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  #isListening = false;
  #notifiedAt = -Infinity;
  #isNotifyPending = false;

  constructor(connection: Connection, settings: WakeSettings, onHint: OnHint) {
    this.#connection = connection;
    this.#settings = settings;
    this.#onHint = onHint;
    this.#channel = `${settings.schema}_wake`;
  }

  listen(call: () => void): () => void {
    this.#listeners.add(call);
    if (this.#settings.notify && !this.#isListening) void this.#listenToOthers();
    return () => this.#listeners.delete(call);
  }

  /** Wakes those who listen in this process. */
  wakeOwn(): void {
    for (const call of this.#listeners) call();
  }

  /** Tells other processes, on a session that is at work anyway; if they were told just now, a little later. */
  notifyOthers(session: Session, hinted: Change | null): void {
    if (!this.#settings.notify) return;
    const now = systemClock.monotonic();
    if (now - this.#notifiedAt < pauseMs) return void this.#notifyLater();
    this.#notifiedAt = now;
    const details = hinted === null ? '' : claimHintText(hinted);
    const hint = details.length <= detailsCharsMax ? this.#ownTag + details : this.#ownTag;
    session.run(notifySql, [this.#channel, hint]).catch(ignore);
  }

  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  async #notifyLater(): Promise<void> {
    if (this.#isNotifyPending) return;
    this.#isNotifyPending = true;
    await systemClock.sleep(pauseMs, this.#closing.signal);
    this.#isNotifyPending = false;
    if (this.#closing.signal.aborted) return;
    this.#notifiedAt = systemClock.monotonic();
    await this.#connection.run(notifySql, [this.#channel, this.#ownTag]).catch(ignore);
  }

  #receive(hint: string): void {
    if (hint.startsWith(this.#ownTag)) return;
    const details = hint.slice(this.#ownTag.length);
    this.#onHint(details === '' ? null : parseClaimHint(details));
    this.wakeOwn();
  }

  async #listenToOthers(): Promise<void> {
    this.#isListening = true;
    for (let waitMs = 50; !this.#closing.signal.aborted; waitMs = Math.min(reconnectMaxMs, waitMs * 2)) {
      const client = new pg.Client(clientConfig(this.#settings.url, this.#settings));
      try {
        if (await this.#listenOn(client)) waitMs = 50;
      } catch {
        // The server is away: it is tried again, and polling goes on meanwhile.
      }
      await client.end().catch(ignore);
      await systemClock.sleep(waitMs / 2 + (systemRandom.next() * waitMs) / 2, this.#closing.signal);
    }
    this.#isListening = false;
  }

  /** Until the connection is lost or all is closed. What was missed before it stood is made good by one wake. */
  async #listenOn(client: pg.Client): Promise<true> {
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      this.#closing.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(this.#channel)}`);
    this.wakeOwn();
    await lost;
    return true;
  }
}

/** A hint need not wait for the disk. */
const notifySql = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;
