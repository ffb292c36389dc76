// A proxied connection to PostgreSQL that forwards one statement for each call of `release`.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '../../../src/time/clock.ts';
import { WakeSignal } from '../../../src/time/wake-signal.ts';

const [query, sync, ready] = ['Q', 'S', 'Z'].map((letter) => letter.charCodeAt(0));

export class GatedConnection {
  readonly url: string;
  /** Notified when a statement waits for `release` and when one was answered. */
  readonly changed = new WakeSignal(systemClock);
  readonly #close: () => void;
  readonly #waiting: Buffer[][] = [];
  readonly #toServer = new Messages();
  readonly #toClient = new Messages();
  #isGated = false;
  #upstream: Socket | null = null;
  #unanswered = 0;
  /** The messages of the next statement, until it is complete. */
  #partial: Buffer[] = [];

  private constructor(url: string, close: () => void) {
    this.url = url;
    this.#close = close;
  }

  static async to(serverUrl: string): Promise<GatedConnection> {
    const { hostname, port } = new URL(serverUrl);
    const server = createServer((client) => connection.#join(client, connect(Number(port), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(serverUrl);
    url.port = String((server.address() as AddressInfo).port);
    const connection: GatedConnection = new GatedConnection(url.href, () => server.close());
    return connection;
  }

  /** From now on each statement waits for `release`. The connection must be idle. */
  gate(): void {
    this.#isGated = true;
  }

  open(): void {
    this.#isGated = false;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the server is executing a statement. */
  get isBusy(): boolean {
    return this.#unanswered > 0;
  }

  /** The client port of this connection in pg_stat_activity. */
  get portAtServer(): number {
    return this.#upstream!.localPort!;
  }

  release(): void {
    const statement = this.#waiting.shift()!;
    this.#unanswered += statement.filter(endsStatement).length;
    this.#upstream!.write(Buffer.concat(statement));
  }

  close(): void {
    this.#upstream?.destroy();
    this.#close();
  }

  #join(client: Socket, upstream: Socket): void {
    this.#upstream = upstream;
    client.on('data', (chunk) => {
      if (!this.#isGated) upstream.write(chunk);
      else for (const message of this.#toServer.take(chunk)) this.#hold(message);
    });
    upstream.on('data', (chunk) => {
      const answered = this.#isGated ? this.#toClient.take(chunk).filter(([letter]) => letter === ready) : [];
      this.#unanswered -= answered.length;
      client.write(chunk);
      if (answered.length > 0) this.changed.notify();
    });
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  }

  /** BEGIN takes no lock and no snapshot: it is forwarded with the first statement of the transaction. */
  #hold(message: Buffer): void {
    this.#partial.push(message);
    const isBegin = message[0] === query && message.includes('begin isolation');
    if (!endsStatement(message) || isBegin) return;
    this.#waiting.push(this.#partial);
    this.#partial = [];
    this.changed.notify();
  }
}

const endsStatement = (message: Buffer): boolean => message[0] === query || message[0] === sync;

/** Splits a byte stream into protocol messages: a letter, the length of the rest, the rest. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): Buffer[] {
    const found: Buffer[] = [];
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 5) {
      const length = 1 + this.#rest.readUInt32BE(1);
      if (this.#rest.length < length) break;
      found.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
    return found;
  }
}
