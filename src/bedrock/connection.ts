/**
 * A connection: answers pipelined requests one after the other. A handed-out job whose reply cannot be delivered is
 * released.
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
  /** Runs work without a reply, now or at a time; false: too many commands are scheduled already. */
  readonly runLater: (work: () => Promise<void>, at: number | null) => boolean;
}

/** How long a client may take before it is disconnected. */
export interface ClientTimeouts {
  /** From the first byte of a request to the blank line. */
  readonly headMs: number;
  readonly bodyMs: number;
  /** Between requests. */
  readonly idleMs: number;
  /** To read a reply. */
  readonly writeMs: number;
}

/** Requests read ahead while one is being answered. */
const queuedRequestsMax = 32;
/** How long a client may keep its side open after the server closed its own. */
const halfCloseMs = 2_000;
/** A TCP reset within this time after a reply means that it was not read. Later, any router can cause one. */
const unreadMs = 2_000;
/** How long to wait for a TCP reset that can follow the client's FIN. */
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
  /** The client has sent FIN. It may still read, but the server cannot know that. */
  #hasEnded = false;
  #isBroken = false;
  /** When the current wait for the client began. */
  #since: number;
  /** The last hand-out, until the client sends anything: then it has read the reply. */
  #unconfirmed: { readonly reply: Reply; readonly at: number } | null = null;

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

  /** Whether the client exceeds its current timeout. */
  isOverdue(now: number): boolean {
    return now - this.#since > this.#allowedMs();
  }

  /** Finishes the current reply and drops requests that were read ahead. */
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
    this.#unconfirmed = null;
    const before = this.#reader.phase;
    try {
      for (const request of this.#reader.read(bytes)) this.#requests.push(request);
    } catch (error) {
      this.#isClosing = true;
      this.#requests.push(error instanceof UnreadableMessage ? error : this.#unexpected(error));
    }
    if (this.#reader.phase !== before) this.#since = this.#parts.clock.monotonic();
    if (this.#requests.length >= queuedRequestsMax) this.#socket.pause();
    if (!this.#isBusy && this.#requests.length > 0) void this.#work();
  }

  /** A bug in the parser must end this connection only. */
  #unexpected(error: unknown): UnreadableMessage {
    this.#parts.logger.error('cannot read a Bedrock request', { error, client: this.name });
    return new UnreadableMessage('500 Unhandled Exception', 'unexpected error while reading the request');
  }

  #receivedAll(): void {
    this.#hasEnded = true;
    this.#notifyGone();
    if (!this.#isBusy) this.#leave();
  }

  /** `code` is missing when the socket closed without an error. */
  #broke(code?: string): void {
    this.#isBroken = true;
    const unread = this.#unconfirmed;
    const isSoon = unread !== null && this.#parts.clock.monotonic() - unread.at <= unreadMs;
    if (isSoon && code !== undefined && resets.has(code)) void this.#lose(unread.reply);
    this.#notifyGone();
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

  /** After FIN, waits for the TCP reset that the client's machine sends if the last reply was not read. */
  #leave(): void {
    if (this.#unconfirmed === null || !this.#hasEnded) this.#end();
    else this.#parts.clock.after(resetMs, () => this.#end());
  }

  /** An empty write fails after a TCP reset; `end` alone would not report it. */
  #end(): void {
    if (this.#unconfirmed !== null && this.#hasEnded) this.#socket.write('', () => this.#socket.end());
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

  /** Replies and closes at once; the command runs without the client. */
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
    if (isHandOut) this.#unconfirmed = { reply, at: this.#parts.clock.monotonic() };
    const isWritten = await this.#write(writeResponse(reply), isHandOut);
    if (!isWritten && this.#unconfirmed?.reply === reply) await this.#lose(reply);
  }

  /** Waits until the text is written if the caller needs the outcome, or if the send buffer is full. */
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
    this.#unconfirmed = null;
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

/** The time at which to run the command; null: now. */
function executeTimeOf({ headers }: BedrockRequest, now: number): number | null {
  const text = headers.get('commandexecutetime');
  const at = text !== undefined && /^\d{1,18}$/.test(text) ? Number(text) / 1000 : 0;
  return at > now ? at : null;
}

/** Unwraps an IPv4 address that is mapped to IPv6. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');

export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
