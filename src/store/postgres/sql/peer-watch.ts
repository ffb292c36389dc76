/**
 * Notices connections whose peer is gone: a host without power, a firewall that forgot the connection. TCP reports a
 * dead peer only after minutes. While a statement is unanswered and no byte arrives, the watch asks the server over a
 * new connection what the silent backend is doing. If the backend is executing a statement, the watch waits, up to the
 * statement timeout. Then it cancels the statement, so that the server does not execute it after the caller was
 * refused; a backend that does not answer even then is terminated. If the backend is idle, it never got the statement,
 * or its answer was lost. In that case the backend is terminated, so that it frees its locks and executes nothing later,
 * and the connection is reset, so that the statement is retried.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';
import { systemClock, type Clock } from '../../../time/clock.ts';
import type { AskAboutBackend, BackendState, IfBusy } from './backend-probe.ts';

export interface PeerWatchSettings {
  /** How long a connection with an unanswered statement may be silent before the watch probes its backend. */
  readonly silenceMs: number;
  /** How long a connection may be silent while its backend executes a statement. After that it is cancelled. */
  readonly statementTimeoutMs: number;
  /** How long a connection may be silent while the server is unreachable. After that the statement counts as lost. */
  readonly patienceMs: number;
}

/** A client of the pool, and the state of its connection. */
export interface WatchedClient {
  readonly client: pg.PoolClient;
  unanswered: number;
  /** When the client was used for the first time, or when its last use ended without a loss. */
  lastReplyAt: number;
  /** Since when a statement has been unanswered and no byte has arrived. */
  quietSince: number;
  bytesRead: number;
  probeAfterMs: number;
  isProbing: boolean;
  /** Whether the watch has asked the server to cancel the unanswered statement. */
  isCancelled: boolean;
  /** Why the watch has reset the connection; null: it has not. */
  loss: PeerLoss | null;
}

export interface PeerLoss {
  readonly reason: string;
  /**
   * The monotonic time from which `patienceMs`, the time limit of the retries, is counted. If the backend was idle, it
   * is the time of the reset; otherwise it is the time at which the silence began.
   */
  readonly since: number;
}

const tickMs = 500;
/**
 * How long a connection through a pooler may be silent. After that its statement counts as lost. The pooler hides the
 * backend, so the watch cannot find out whether the statement is being executed. Stint's statements usually take less
 * time than this.
 */
const hiddenMaxMs = 10_000;
const probeIntervalMaxMs = 5_000;

export class PeerWatch {
  readonly #settings: PeerWatchSettings;
  readonly #ask: AskAboutBackend;
  readonly #clock: Clock;
  readonly #clients = new WeakMap<pg.PoolClient, WatchedClient>();
  readonly #inUse = new Set<WatchedClient>();
  readonly #listeners = new Set<() => void>();
  #cancelTick: (() => void) | null = null;
  #lostAt = -Infinity;
  #unlimited = 0;

  constructor(settings: PeerWatchSettings, ask: AskAboutBackend, clock = systemClock) {
    this.#settings = settings;
    this.#ask = ask;
    this.#clock = clock;
  }

  /**
   * Starts to watch a client, until `end` is called. Null: the client may be dead and was reset, because another
   * connection has been lost since this client last had an answer.
   */
  begin(client: pg.PoolClient): WatchedClient | null {
    const watched = this.#clients.get(client) ?? this.#add(client);
    if (watched.lastReplyAt < this.#lostAt) {
      resetClient(client);
      return null;
    }
    watched.quietSince = this.#clock.monotonic();
    watched.probeAfterMs = this.#settings.silenceMs;
    watched.isCancelled = false;
    this.#inUse.add(watched);
    this.#cancelTick ??= this.#clock.after(tickMs, () => this.#tick());
    return watched;
  }

  end(watched: WatchedClient): void {
    this.#inUse.delete(watched);
    if (watched.loss === null) watched.lastReplyAt = this.#clock.monotonic();
  }

  onLoss(call: () => void): void {
    this.#listeners.add(call);
  }

  /** Suspends the statement timeout of all connections until `work` ends. */
  async withoutTimeout<T>(work: () => Promise<T>): Promise<T> {
    this.#unlimited += 1;
    try {
      return await work();
    } finally {
      this.#unlimited -= 1;
    }
  }

  close(): void {
    this.#cancelTick?.();
    this.#listeners.clear();
  }

  #add(client: pg.PoolClient): WatchedClient {
    const now = this.#clock.monotonic();
    const watched: WatchedClient = {
      client, unanswered: 0, lastReplyAt: now, quietSince: now, bytesRead: 0, isProbing: false, loss: null,
      probeAfterMs: this.#settings.silenceMs, isCancelled: false,
    };
    this.#clients.set(client, watched);
    return watched;
  }

  #tick(): void {
    this.#cancelTick = this.#inUse.size === 0 ? null : this.#clock.after(tickMs, () => this.#tick());
    for (const watched of this.#inUse) if (this.#isQuiet(watched) && !watched.isProbing) void this.#probe(watched);
  }

  /** Whether a statement is unanswered and no byte has arrived for so long that the next probe is due. */
  #isQuiet(watched: WatchedClient): boolean {
    const { bytesRead } = socketOf(watched.client);
    if (watched.unanswered > 0 && bytesRead === watched.bytesRead) return this.#quietMs(watched) >= watched.probeAfterMs;
    watched.bytesRead = bytesRead;
    watched.quietSince = this.#clock.monotonic();
    watched.probeAfterMs = this.#settings.silenceMs;
    watched.isCancelled = false;
    return false;
  }

  async #probe(watched: WatchedClient): Promise<void> {
    watched.isProbing = true;
    const backend = { pid: backendOf(watched.client), ageMs: this.#clock.monotonic() - watched.lastReplyAt };
    const ifBusy = this.#ifBusy(watched);
    // The report of the cancel may arrive before the answer of the probe.
    watched.isCancelled ||= ifBusy === 'cancel';
    const found = await this.#ask(backend, ifBusy);
    watched.isProbing = false;
    if (!this.#inUse.has(watched) || !this.#isQuiet(watched)) return;
    const quiet = this.#quietMs(watched);
    watched.probeAfterMs = quiet + Math.min(probeIntervalMaxMs, quiet / 2);
    const reason = this.#reasonToGiveUp(found, quiet, ifBusy);
    if (reason === null) return;
    const since = found === 'idle' ? this.#clock.monotonic() : watched.quietSince;
    this.#lose(watched, { reason, since });
  }

  /** What becomes of a statement that is still being executed: from the statement timeout on, it is ended. */
  #ifBusy(watched: WatchedClient): IfBusy {
    if (this.#unlimited > 0 || this.#quietMs(watched) < this.#settings.statementTimeoutMs) return 'leave';
    return watched.isCancelled ? 'terminate' : 'cancel';
  }

  #reasonToGiveUp(found: BackendState, quiet: number, ifBusy: IfBusy): string | null {
    const { statementTimeoutMs, patienceMs } = this.#settings;
    const limits = { idle: 0, busy: ifBusy === 'terminate' ? 0 : Infinity, unreachable: patienceMs,
      hidden: Math.min(statementTimeoutMs, hiddenMaxMs) };
    if (quiet < limits[found]) return null;
    return found === 'idle' ? 'the connection carries nothing any more' : `no answer for ${Math.round(quiet / 1000)} s`;
  }

  /**
   * Resets the connection, and sets `#lostAt` to now. Idle connections of the pool may be dead, too: `begin` resets
   * each connection whose last answer came before `#lostAt`.
   */
  #lose(watched: WatchedClient, loss: PeerLoss): void {
    watched.loss = loss;
    this.#lostAt = this.#clock.monotonic();
    resetClient(watched.client);
    for (const call of this.#listeners) call();
  }

  #quietMs({ quietSince }: WatchedClient): number {
    return this.#clock.monotonic() - quietSince;
  }
}

/**
 * Closes the connection by RST, which discards unsent data: a statement must not arrive after its retry. A TLS socket
 * cannot send RST, and is only destroyed.
 */
export function resetClient(client: pg.PoolClient): void {
  const socket = socketOf(client);
  try {
    socket.resetAndDestroy();
  } catch {
    socket.destroy();
  }
}

/**
 * The driver's types do not declare the field `connection` of its clients, nor `processID`, which `backendOf` returns.
 */
export const socketOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

const backendOf = (client: pg.ClientBase): number => (client as unknown as { readonly processID: number }).processID;
