/**
 * A connection: answers pipelined requests one after the other. If the server notices that the client did not get a
 * reply that hands out a job, it releases the job.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import type { Clock } from '../time/clock.ts';
import type { BedrockServices, Reply } from './call.ts';
import type { BedrockCaller } from './caller.ts';
import { answer } from './commands.ts';
import { isHealthCheck, MessageReader, writeResponse, type MessageLimits, type BedrockRequest } from './message.ts';
import { UnreadableMessage } from './unreadable.ts';

export interface ConnectionParts {
  readonly services: BedrockServices;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: MessageLimits;
  readonly patience: ClientTimeouts;
  /** Calls `work` at store time `at` (null: now). Returns false, and never calls it, if too many calls wait already. */
  readonly runLater: (work: () => Promise<void>, at: number | null) => boolean;
}

/** How long a client may take before it is disconnected. */
export interface ClientTimeouts {
  /** From the first byte of a request to the blank line after its headers. Default: 10 seconds. */
  readonly headMs: number;
  /** From the blank line to the end of the body. Default: 30 seconds. */
  readonly bodyMs: number;
  /** From the connect or a reply to the first byte of the next request. Default: 24 hours. */
  readonly idleMs: number;
  /** To receive the part of a reply that does not fit into the system's send buffer. Default: 30 seconds. */
  readonly writeMs: number;
}

interface UnconfirmedReply {
  readonly reply: Reply;
  /** When the reply was sent, in monotonic time. */
  readonly at: number;
}

/** How many requests are read ahead while one is being answered. Beyond that, the socket is paused. */
const queuedRequestsMax = 32;
/** The client has this long to close its side after the server has closed its own; then the socket is destroyed. */
const halfCloseMs = 2_000;
/**
 * A TCP reset within this time after a reply means that the client did not read the reply. A later reset does not
 * mean this: it can also come from a router that drops an idle connection.
 */
const unreadMs = 2_000;
/** How long to wait after the client's FIN for a TCP reset, which means that the client did not read the reply. */
const resetMs = 100;

const resets: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ENOTCONN']);
const health = 'HTTP/1.1 200 LEADING\r\nContent-Length: 0\r\n\r\n';

export class BedrockConnection implements BedrockCaller {
  readonly name: string;
  readonly address: string;
  readonly isLocal: boolean;
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #reader: MessageReader;
  readonly #requests: (BedrockRequest | UnreadableMessage)[] = [];
  readonly #goneCalls = new Set<() => void>();
  #isBusy = false;
  #isWriting = false;
  #isClosing = false;
  /** Whether the client has sent FIN. The server cannot know whether such a client still reads replies. */
  #hasEnded = false;
  #isBroken = false;
  /** When the current wait for the client began, in monotonic time. */
  #since: number;
  /** The replies that handed out jobs and that the client may not have read. */
  #unconfirmed: readonly UnconfirmedReply[] = [];
  /** Whether the client has ever sent a request without waiting for the reply to its previous request. */
  #isPipelining = false;

  constructor(socket: Socket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#reader = new MessageReader(parts.limits);
    this.#since = parts.clock.monotonic();
    this.address = plainAddress(socket.remoteAddress ?? 'unknown');
    this.name = `bedrock ${this.address}:${socket.remotePort ?? 0}`;
    this.isLocal = isLoopback(this.address);
    this.closed = new Promise((resolve) => void socket.once('close', () => resolve()));
    this.#listen();
  }

  get isGone(): boolean {
    return this.#hasEnded || this.#isBroken;
  }

  whenGone(call: () => void): () => void {
    if (this.isGone) call();
    else this.#goneCalls.add(call);
    return () => void this.#goneCalls.delete(call);
  }

  /** Whether the client has exceeded one of its `ClientTimeouts`. */
  isOverdue(now: number): boolean {
    return now - this.#since > this.#allowedMs();
  }

  /** Closes the connection after the current reply; drops requests that were read ahead. */
  close(): void {
    this.#isClosing = true;
    this.#requests.length = 0;
    if (!this.#isBusy) this.#end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #allowedMs(): number {
    const { headMs, bodyMs, idleMs, writeMs } = this.#parts.patience;
    if (this.#isWriting) return writeMs;
    if (this.#isBusy) return Infinity;
    return { idle: idleMs, head: headMs, body: bodyMs }[this.#reader.phase];
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('end', () => this.#receivedAll());
    socket.on('error', (error: NodeJS.ErrnoException) => this.#broke(error.code));
    socket.on('close', () => this.#broke());
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosing) return;
    const before = this.#reader.phase;
    const isAwaitingReply = this.#isBusy;
    try {
      for (const request of this.#reader.read(bytes)) this.#requests.push(request);
    } catch (error) {
      this.#isClosing = true;
      this.#requests.push(error instanceof UnreadableMessage ? error : this.#unexpected(error));
    }
    this.#confirm(isAwaitingReply || this.#requests.length > 1);
    if (this.#reader.phase !== before) this.#since = this.#parts.clock.monotonic();
    if (this.#requests.length >= queuedRequestsMax) this.#socket.pause();
    if (!this.#isBusy && this.#requests.length > 0) void this.#work();
  }

  /**
   * Called when bytes arrive. If the client has never pipelined, they show that it has read all earlier replies. A
   * client that pipelines sends requests before it has read the replies, so its bytes confirm nothing.
   */
  #confirm(isPipelined: boolean): void {
    this.#isPipelining ||= isPipelined;
    if (!this.#isPipelining) this.#unconfirmed = [];
  }

  /** Turns an unexpected error of the parser into a refusal, so that a bug ends this connection only. */
  #unexpected(error: unknown): UnreadableMessage {
    this.#parts.logger.error('cannot read a Bedrock request', { error, client: this.name });
    return new UnreadableMessage('500 Unhandled Exception', 'unexpected error while reading the request');
  }

  #receivedAll(): void {
    this.#hasEnded = true;
    this.#notifyGone();
    if (!this.#isBusy) this.#leave();
  }

  /** Called when the socket has failed, with the code of the error, and when it has closed, without a code. */
  #broke(code?: string): void {
    this.#isBroken = true;
    if (code !== undefined && resets.has(code)) for (const { reply } of this.#recent()) void this.#lose(reply);
    this.#notifyGone();
  }

  /** Returns the unconfirmed replies that count as unread if the connection is reset now. */
  #recent(): readonly UnconfirmedReply[] {
    const now = this.#parts.clock.monotonic();
    return this.#unconfirmed.filter(({ at }) => now - at <= unreadMs);
  }

  #notifyGone(): void {
    const calls = [...this.#goneCalls];
    this.#goneCalls.clear();
    for (const call of calls) call();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let request = this.#next(); request !== undefined; request = this.#next()) {
      if (request instanceof UnreadableMessage) this.#refuse(request);
      else await this.#serve(request);
    }
    this.#isBusy = false;
    this.#since = this.#parts.clock.monotonic();
    if (this.#isClosing || this.#hasEnded) this.#leave();
  }

  #next(): BedrockRequest | UnreadableMessage | undefined {
    const request = this.#requests.shift();
    if (this.#requests.length < queuedRequestsMax && this.#socket.isPaused()) this.#socket.resume();
    return request;
  }

  /**
   * Ends the connection. If the client has sent FIN and a reply is unconfirmed, waits `resetMs` first, because a TCP
   * reset may still arrive.
   */
  #leave(): void {
    if (this.#unconfirmed.length === 0 || !this.#hasEnded) this.#end();
    else this.#parts.clock.after(resetMs, () => this.#end());
  }

  /**
   * Ends the connection. If the client has sent FIN and a reply is unconfirmed, writes an empty text first, because
   * `write` reports a TCP reset and `end` does not.
   */
  #end(): void {
    if (this.#unconfirmed.length > 0 && this.#hasEnded) this.#socket.write('', () => this.#socket.end());
    else this.#socket.end();
    const stopTimer = this.#parts.clock.after(halfCloseMs, () => this.#socket.destroy());
    void this.closed.then(stopTimer);
  }

  #refuse({ status, message }: UnreadableMessage): void {
    this.#parts.logger.warn('disconnected a Bedrock client', { client: this.name, why: message });
    if (status === null) this.#socket.destroy();
    else this.#socket.write(writeResponse({ status, headers: { Connection: 'close' } }));
  }

  async #serve(request: BedrockRequest): Promise<void> {
    if (isHealthCheck(request.line)) {
      this.#socket.write(health);
      return this.close();
    }
    const wanted = request.headers.get('connection') ?? '';
    const later = executeTimeOf(request, this.#parts.services.store.now());
    if (wanted.toLowerCase() === 'forget' || later !== null) return this.#forget(request, later);
    const { services, logger } = this.#parts;
    const reply = await answer({ ...request, caller: this, services }, logger);
    await this.#send(wanted === 'close' ? withClose(reply) : reply);
    if (wanted.toLowerCase() === 'close') this.close();
  }

  /**
   * Replies 202 and closes the connection; the command runs at `at` (null: now), and its own reply is not sent. If too
   * many commands wait already, replies 500 instead, and the command does not run.
   */
  #forget(request: BedrockRequest, at: number | null): void {
    const { services, logger, runLater } = this.#parts;
    const caller = { name: this.name, isLocal: this.isLocal, isGone: true, whenGone: whenGoneAlready };
    const work = async (): Promise<void> => this.#lose(await answer({ ...request, caller, services }, logger));
    const status = runLater(work, at) ? '202 Successfully queued' : '500 Refused';
    this.#socket.write(writeResponse(withClose({ status })));
    this.close();
  }

  async #send(reply: Reply): Promise<void> {
    const isHandOut = reply.onLost !== undefined;
    if (this.#isBroken || (isHandOut && this.isGone)) return this.#lose(reply);
    if (isHandOut) this.#unconfirmed = [...this.#recent(), { reply, at: this.#parts.clock.monotonic() }];
    const isWritten = await this.#write(writeResponse(reply), isHandOut);
    if (!isWritten && this.#unconfirmed.some((each) => each.reply === reply)) await this.#lose(reply);
  }

  /**
   * Writes the text; returns false if that failed. Returns true without waiting if the outcome is not needed and the
   * send buffer has room.
   */
  async #write(text: string, needsOutcome: boolean): Promise<boolean> {
    let resolveWritten = (_isWritten: boolean): void => {};
    const written = new Promise<boolean>((resolve) => (resolveWritten = resolve));
    const hasRoom = this.#socket.write(text, (error) => resolveWritten(!error));
    if (hasRoom && !needsOutcome) return true;
    this.#since = this.#parts.clock.monotonic();
    this.#isWriting = true;
    const isWritten = await written;
    this.#isWriting = false;
    return isWritten;
  }

  async #lose(reply: Reply): Promise<void> {
    this.#unconfirmed = this.#unconfirmed.filter((each) => each.reply !== reply);
    try {
      await reply.onLost?.();
    } catch (error) {
      this.#parts.logger.error('cannot release a job whose worker is gone', { error, client: this.name });
    }
  }
}

const withClose = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, Connection: 'close' } });

function whenGoneAlready(call: () => void): () => void {
  call();
  return () => {};
}

/** Returns the store time at which to run the command, from commandExecuteTime in µs; null: run it now. */
function executeTimeOf({ headers }: BedrockRequest, now: number): number | null {
  const text = headers.get('commandexecutetime');
  const at = text !== undefined && /^\d{1,18}$/.test(text) ? Number(text) / 1000 : 0;
  return at > now ? at : null;
}

/** Removes the prefix `::ffff:` of an IPv4 address that is mapped to IPv6. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');

export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
