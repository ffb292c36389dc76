/**
 * The connection: requests come in, are answered one after the other in the order of their coming, and a job that its
 * worker cannot be told of goes back.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import type { Clock } from '../time/clock.ts';
import type { BedrockServices, Reply } from './call.ts';
import type { BedrockCaller } from './caller.ts';
import { answer } from './commands.ts';
import {
  asksForHealth, MessageReader, UnreadableMessage, writeResponse, type MessageLimits, type Request,
} from './message.ts';

export interface ConnectionParts {
  readonly services: BedrockServices;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: MessageLimits;
  readonly patience: Patience;
  /** Takes over what is to run without a reply, now or at a time; false: there is no room for it. */
  readonly runLater: (work: () => Promise<void>, at: number | null) => boolean;
}

/** How long a client may take, in ms. */
export interface Patience {
  /** From the first byte of a request to the blank line. */
  readonly headMs: number;
  readonly bodyMs: number;
  /** Between requests. */
  readonly idleMs: number;
  /** To take in an answer. */
  readonly writeMs: number;
}

/** Requests read ahead while one is being answered. */
const queuedRequestsMax = 32;
/** To close its side after we have closed ours. */
const partingMs = 2_000;
/** A reset so soon after a reply says that the reply was never read. Later it may come from any box on the way. */
const unreadMs = 2_000;
/** How long to wait for a reset that may be on its way behind the end of what the client sends. */
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
  readonly #requests: (Request | UnreadableMessage)[] = [];
  readonly #goneCalls = new Set<() => void>();
  #isBusy = false;
  #isWriting = false;
  #isClosing = false;
  /** The client says nothing more: it may still listen, but nobody can know. */
  #hasEnded = false;
  #isBroken = false;
  /** Since when we wait for the client. */
  #since: number;
  /** The last hand-out, while nothing has been heard from the client since. */
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

  /** Whether the client takes longer than it may. */
  isOverdue(now: number): boolean {
    return now - this.#since > this.#allowedMs();
  }

  /** What is being answered is still answered; nothing else is. */
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

  /** A mistake of ours costs one connection, not the server. */
  #unexpected(error: unknown): UnreadableMessage {
    this.#parts.logger.error('a Bedrock request could not be read', { error, client: this.name });
    return new UnreadableMessage('500 Unhandled Exception', 'the request could not be read');
  }

  #receivedAll(): void {
    this.#hasEnded = true;
    this.#notifyGone();
    if (!this.#isBusy) this.#leave();
  }

  /** Without a code: it is over, be it as it should or not. */
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

  #next(): Request | UnreadableMessage | undefined {
    const request = this.#requests.shift();
    if (this.#requests.length < queuedRequestsMax && this.#socket.isPaused()) this.#socket.resume();
    return request;
  }

  /** Whether a client left before it read its reply is told by the reset that its machine then sends. */
  #leave(): void {
    if (this.#unconfirmed === null || !this.#hasEnded) this.#end();
    else this.#parts.clock.after(resetMs, () => this.#end());
  }

  /** To write nothing fails if there was a reset; to end would not. */
  #end(): void {
    if (this.#unconfirmed !== null && this.#hasEnded) this.#socket.write('', () => this.#socket.end());
    else this.#socket.end();
    const stopTimer = this.#parts.clock.after(partingMs, () => this.#socket.destroy());
    void this.closed.then(stopTimer);
  }

  #refuse({ status, message }: UnreadableMessage): void {
    this.#parts.logger.warn('a Bedrock client was sent away', { client: this.name, why: message });
    if (status === null) this.#socket.destroy();
    else this.#socket.write(writeResponse({ status, headers: { Connection: 'close' } }));
  }

  async #serve(request: Request): Promise<void> {
    if (asksForHealth(request.line)) {
      this.#socket.write(health);
      return this.close();
    }
    const wanted = request.headers.get('connection') ?? '';
    const later = laterOf(request, this.#parts.services.store.now());
    if (wanted.toLowerCase() === 'forget' || later !== null) return this.#forget(request, later);
    const { services, logger } = this.#parts;
    const reply = await answer({ ...request, caller: this, services }, logger);
    await this.#send(wanted === 'close' ? parting(reply) : reply);
    if (wanted.toLowerCase() === 'close') this.close();
  }

  /** The client is sent away at once; what it asked for runs without it. */
  #forget(request: Request, at: number | null): void {
    const { services, logger, runLater } = this.#parts;
    const caller = { name: this.name, isLocal: this.isLocal, isGone: true, whenGone: whenGoneAlready };
    const work = async (): Promise<void> => this.#lose(await answer({ ...request, caller, services }, logger));
    const status = runLater(work, at) ? '202 Successfully queued' : '500 Refused';
    this.#socket.write(writeResponse(parting({ status })));
    this.close();
  }

  async #send(reply: Reply): Promise<void> {
    const isHandOut = reply.onLost !== undefined;
    if (this.#isBroken || (isHandOut && this.isGone)) return this.#lose(reply);
    if (isHandOut) this.#unconfirmed = { reply, at: this.#parts.clock.monotonic() };
    const isWritten = await this.#write(writeResponse(reply), isHandOut);
    if (!isWritten && this.#unconfirmed?.reply === reply) await this.#lose(reply);
  }

  /** Waits until it has left this process, if that is to be known or the client does not keep up. */
  async #write(text: string, isToBeKnown: boolean): Promise<boolean> {
    let resolveWritten = (_isWritten: boolean): void => {};
    const written = new Promise<boolean>((resolve) => (resolveWritten = resolve));
    const keepsUp = this.#socket.write(text, (error) => resolveWritten(!error));
    if (keepsUp && !isToBeKnown) return true;
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
      this.#parts.logger.error('a job whose worker is gone could not be put back', { error, client: this.name });
    }
  }
}

const parting = (reply: Reply): Reply => ({ ...reply, headers: { ...reply.headers, Connection: 'close' } });

function whenGoneAlready(call: () => void): () => void {
  call();
  return () => {};
}

/** In ms; null: it is to run now. */
function laterOf({ headers }: Request, now: number): number | null {
  const text = headers.get('commandexecutetime');
  const at = text !== undefined && /^\d{1,18}$/.test(text) ? Number(text) / 1000 : 0;
  return at > now ? at : null;
}

/** An IPv4 address that comes as IPv6 is told as what it is. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');

export const isLoopback = (address: string): boolean => address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
