/**
 * Wakes listeners when jobs may have become claimable: directly in this process, by NOTIFY in others. A transaction
 * with NOTIFY takes a lock of the whole cluster when it commits. So NOTIFY is not a part of the store's own write
 * transactions: it follows them, at most every few milliseconds. For a single new run the payload may be a claim hint.
 * Implements `onWake` of `port/claiming.ts`.
 */
import pg from 'pg';
import type { Change } from '../../model/change.ts';
import { WakeSignal } from '../../time/wake-signal.ts';
import { clientClass, clientConfig, type ClientClass } from './sql/clients.ts';
import type { Database, DatabaseSettings, Session } from './sql/database.ts';
import type { PgDriver } from './sql/driver.ts';
import { ignore } from './sql/errors.ts';
import { inboxNotice, noTag, type Notice } from './sql/notices.ts';
import type { PostgresUrl } from './sql/url.ts';
import { claimHintText, parseClaimHint, type ClaimHint } from './write/claim-hint.ts';

const pauseMs = 5;
/**
 * The maximum length of a claim hint, because NOTIFY limits payloads to 8,000 bytes. If a hint is longer than this, the
 * notification is sent without it.
 */
const detailsCharsMax = 2_000;
const reconnectMaxMs = 10_000;
/**
 * The time between two statements that check the listening connection. Without them, a lost connection could go
 * unnoticed.
 */
const checkMs = 30_000;
const answerMaxMs = 5_000;

export interface WakeSettings extends Pick<DatabaseSettings, 'schema' | 'ssl'> {
  /** The server on which to LISTEN. LISTEN does not work through a transaction pooler. */
  readonly url: PostgresUrl;
  readonly notify: boolean;
}

/** What the store does with the notifications of other processes, and of callers' transactions in any process. */
export interface NotificationHandlers {
  /**
   * Called for each notification that is neither an end notice nor about the inbox. Null: it has no claim hint, or a hint that cannot be used.
   */
  onHint(hinted: ClaimHint | null): void;
  /** Called for each notification first; returns whether it was an end notice, which wakes no listener. */
  onNotice(text: string): boolean;
  /** Called when the inbox may have new requests. */
  onInbox(): void;
  /** Called when this process begins to receive notifications: after it has connected, and after each reconnect. */
  onListening(): void;
}

export class Wake {
  readonly #database: Database;
  readonly #driver: PgDriver;
  readonly #settings: WakeSettings;
  readonly #channel: string;
  /** The tag of the notifications that this process sends; it ignores them when it receives them. */
  readonly #ownTag: string;
  readonly #handlers: NotificationHandlers;
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  readonly #Client: ClientClass;
  readonly #checkSignal: WakeSignal;
  #isListening = false;
  #isConnected = false;
  #notifiedAt = -Infinity;
  #hintedWithinAt = -Infinity;
  /** Cancels the notification that is to be sent after a pause; null: none is. */
  #cancelPending: (() => void) | null = null;

  constructor(database: Database, settings: WakeSettings, handlers: NotificationHandlers) {
    this.#database = database;
    this.#driver = database.driver;
    this.#ownTag = this.#driver.random.hex(8);
    this.#checkSignal = new WakeSignal(this.#driver.clock);
    this.#settings = settings;
    this.#handlers = handlers;
    this.#channel = `${settings.schema}_wake`;
    this.#Client = clientClass(settings.url, this.#driver.Client);
    database.onPeerLoss(() => this.#checkSignal.notify());
  }

  listen(call: () => void): () => void {
    this.#listeners.add(call);
    this.listenForNotices();
    return () => this.#listeners.delete(call);
  }

  listenForNotices(): void {
    if (this.#settings.notify && !this.#isListening) void this.#listenToOthers();
  }

  /**
   * Sends a text of `EndNotices` to other processes. Sends nothing while the listening connection is down, because this
   * process could not receive an answer.
   */
  sendNotice(text: string): void {
    if (!this.#isConnected) return;
    this.#database.run(notifySql, [this.#channel, this.#ownTag + text]).catch(ignore);
  }

  wakeOwn(): void {
    for (const call of this.#listeners) call();
  }

  /**
   * Notifies other processes over `session`, which has written the changes. If the last NOTIFY was less than `pauseMs`
   * ago, notifies them after a pause, without a hint.
   */
  notifyOthers(session: Session, hinted: Change | null): void {
    if (!this.#settings.notify) return;
    const now = this.#driver.clock.monotonic();
    if (now - this.#notifiedAt < pauseMs) return this.#notifyLater();
    this.#notifiedAt = now;
    const details = this.#replacesPending(session) ? '' : detailsOf(hinted);
    session.run(notifySql, [this.#channel, this.#ownTag + details]).catch(ignore);
  }

  /**
   * The notice of a caller's transaction after which jobs may be claimable. It has a hint at most once in `pauseMs`: the
   * notices without one are the same text, of which the server sends one per transaction.
   */
  jobsNoticeWithin(hinted: Change | null): Notice | null {
    const now = this.#driver.clock.monotonic();
    if (hinted === null || now - this.#hintedWithinAt < pauseMs) return this.noticeWithin();
    this.#hintedWithinAt = now;
    return this.noticeWithin(detailsOf(hinted));
  }

  /**
   * The notice that a caller's transaction sends to all processes, including this one, when it commits; null: processes
   * do not notify each other. `text`: one of `EndNotices`, or a claim hint; empty: jobs may have become claimable.
   */
  noticeWithin(text = ''): Notice | null {
    return this.#settings.notify ? [this.#channel, noTag + text] : null;
  }

  /** Notifies all processes, including this one, that the inbox may have new requests. */
  announceInbox(): void {
    if (this.#settings.notify) this.#database.run(notifySql, [this.#channel, noTag + inboxNotice]).catch(ignore);
  }

  close(): void {
    this.#closing.abort();
    this.#cancelPending?.();
    this.#checkSignal.notify();
    this.#listeners.clear();
  }

  #notifyLater(): void {
    if (this.#cancelPending !== null || this.#closing.signal.aborted) return;
    this.#cancelPending = this.#driver.clock.after(pauseMs, () => {
      this.#cancelPending = null;
      this.#notifiedAt = this.#driver.clock.monotonic();
      this.#database.run(notifySql, [this.#channel, this.#ownTag]).catch(ignore);
    });
  }

  /**
   * Cancels the pending notification, and returns true, if one that follows the write of `session` can announce the same
   * jobs: no other connection is in use, on which one of them may not be committed yet.
   */
  #replacesPending(session: Session): boolean {
    const { open, idle } = this.#database.pool;
    const others = open - idle - (session === this.#database ? 0 : 1);
    if (this.#cancelPending === null || others > 0) return false;
    this.#cancelPending();
    this.#cancelPending = null;
    return true;
  }

  #receive(hint: string): void {
    if (hint.startsWith(this.#ownTag)) return;
    const details = hint.slice(this.#ownTag.length);
    if (details === inboxNotice) return this.#handlers.onInbox();
    if (this.#handlers.onNotice(details)) return;
    this.#handlers.onHint(details === '' ? null : parseClaimHint(details));
    this.wakeOwn();
  }

  async #listenToOthers(): Promise<void> {
    this.#isListening = true;
    for (let waitMs = 50; !this.#closing.signal.aborted; waitMs = Math.min(reconnectMaxMs, waitMs * 2)) {
      const client = new this.#Client({ ...clientConfig(this.#settings.ssl), query_timeout: answerMaxMs });
      try {
        if (await this.#listenOn(client)) waitMs = 50;
      } catch {
        // The server is unreachable: the loop reconnects, and polling finds jobs meanwhile.
      }
      await client.end().catch(ignore);
      await this.#driver.clock.sleep(waitMs / 2 + (this.#driver.random.next() * waitMs) / 2, this.#closing.signal);
    }
    this.#isListening = false;
  }

  /**
   * Listens until the connection is lost or the store closes, and returns true; throws if it cannot connect. Wakes the
   * listeners once at the start, since notifications may have been missed before.
   */
  async #listenOn(client: pg.Client): Promise<true> {
    const lost = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      this.#closing.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(this.#channel)}`);
    this.#isConnected = true;
    this.#handlers.onListening();
    this.wakeOwn();
    await Promise.race([lost, this.#untilUnanswered(client)]);
    this.#isConnected = false;
    return true;
  }

  /**
   * Checks the connection by a statement every `checkMs`, and when a connection of the pool was lost. Returns when
   * there is no answer or the store closes.
   */
  async #untilUnanswered(client: pg.Client): Promise<void> {
    for (let isAnswered = true; isAnswered; ) {
      await this.#checkSignal.wait(checkMs);
      if (this.#closing.signal.aborted) return;
      isAnswered = await client.query('select 1').then(() => true, () => false);
    }
  }
}

/** The claim hint of a change; empty: there is none, or it is too long. */
function detailsOf(hinted: Change | null): string {
  const details = hinted === null ? '' : claimHintText(hinted);
  return details.length <= detailsCharsMax ? details : '';
}

/** Sends a notification without waiting for a flush to the disk. */
const notifySql = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;
