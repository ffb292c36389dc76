/** The Bedrock server: listens, limits the number of connections, disconnects slow clients, and stops gracefully. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import { Queue } from '../jobs/bedrock/queue.ts';
import type { Jobs } from '../jobs.ts';
import type { Glob } from '../model/glob.ts';
import { Refusal } from '../refusal.ts';
import type { Clock } from '../time/clock.ts';
import type { BedrockServices } from './call.ts';
import { BedrockConnection, isLoopback, type ConnectionParts, type ClientTimeouts } from './connection.ts';
import { defaultLimits, type MessageLimits } from './message.ts';
import { LongPolls } from './long-polls.ts';

export interface BedrockOptions {
  /** The maximum sizes of a request. A larger request is refused, and its connection closed. */
  readonly limits?: Partial<MessageLimits>;
  /** How long a client may take before it is disconnected. */
  readonly patience?: Partial<ClientTimeouts>;
  /** The maximum number of connections; further connections are closed at once. Default: 10,000. */
  readonly connectionsMax?: number;
  /** The maximum number of connections from one IP address; further connections are closed at once. Default: 5,000. */
  readonly connectionsPerAddressMax?: number;
  /** The maximum number of commands that wait for their commandExecuteTime; more are refused. Default: 10,000. */
  readonly laterMax?: number;
  /** How long running commands may take when the server stops, before connections are cut. Default: 10 seconds. */
  readonly closeMs?: number;
  /** The limits of the command Query. Default: 10,000 rows (`rowsMax`) and 5 seconds (`timeMs`). */
  readonly inspection?: Partial<BedrockServices['inspection']>;
  /**
   * What a job with a SCHEDULED repeat of less than 4 hours does if scheduled times were missed. True: it skips them,
   * and is due at the first scheduled time after now. False, the default: it is executed once for each missed time.
   */
  readonly reanchor?: boolean;
  /**
   * Lets the server listen on addresses that other machines can reach. The protocol has no authentication: every client
   * can read and change all Bedrock jobs.
   */
  readonly isOpenToAll?: boolean;
}

export interface BedrockParts {
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options?: BedrockOptions;
}

const defaults = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 5_000,
  laterMax: 10_000,
  closeMs: 10_000,
  reanchor: false,
  isOpenToAll: false,
};
const defaultPatience: ClientTimeouts = { headMs: 10_000, bodyMs: 30_000, idleMs: 86_400_000, writeMs: 30_000 };
const defaultInspection: BedrockServices['inspection'] = { rowsMax: 10_000, timeMs: 5_000 };
/** The interval at which the server searches for slow clients and disconnects them. */
const sweepMs = 1_000;
const serverName = 'bedrock';

export class BedrockServer {
  readonly #settings: typeof defaults;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #services: BedrockServices;
  readonly #parts: ConnectionParts;
  readonly #server: Server;
  readonly #connections = new Set<BedrockConnection>();
  readonly #perAddress = new Map<string, number>();
  /** One function for each command that waits for its commandExecuteTime; calling it drops the command. */
  readonly #later = new Set<() => void>();
  readonly #running = new Set<Promise<void>>();
  #stopSweeping = (): void => {};
  #closing: Promise<void> | null = null;

  constructor({ jobs, clock, logger, options = {} }: BedrockParts) {
    const { limits, patience, inspection, ...settings } = options;
    this.#settings = { ...defaults, ...settings };
    this.#clock = clock;
    this.#logger = logger;
    const queue = new Queue(jobs);
    const crashing = new Map<string, Glob>();
    this.#services = {
      store: jobs.store,
      queue,
      longPolls: new LongPolls({ jobs, queue, clock, logger, crashing, by: serverName }),
      crashing,
      reanchor: this.#settings.reanchor,
      inspection: { ...defaultInspection, ...inspection },
    };
    this.#parts = {
      services: this.#services,
      clock,
      logger,
      limits: { ...defaultLimits, ...limits },
      patience: { ...defaultPatience, ...patience },
      runLater: (work, at) => this.#runLater(work, at),
    };
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** Starts to listen; returns the port. Port 0 selects a free port. */
  async listen(port: number, host = '127.0.0.1'): Promise<{ readonly port: number }> {
    this.#checkHost(host);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve());
    });
    this.#server.on('error', (error) => this.#logger.error('Bedrock server failed', { error }));
    this.#services.longPolls.start();
    this.#sweep();
    return { port: (this.#server.address() as AddressInfo).port };
  }

  /**
   * Accepts no new connections, drops the commands that wait for their commandExecuteTime, and waits for running
   * commands. After `closeMs`, cuts the connections. Long polls end: their workers get no job.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#stopSweeping();
    const stopped = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#dropLater();
    const connections = [...this.#connections];
    for (const connection of connections) connection.close();
    await this.#services.longPolls.stop();
    const giveUp = this.#clock.after(this.#settings.closeMs, () => {
      for (const connection of connections) connection.destroy();
    });
    await Promise.all([...connections.map(({ closed }) => closed), ...this.#running]);
    giveUp();
    await stopped;
  }

  #checkHost(host: string): void {
    if (this.#settings.isOpenToAll || isLoopback(host)) return;
    const ways = 'listen on 127.0.0.1, or set isOpenToAll (stint serve: --allow-unauthenticated-bedrock)';
    const message = `the Bedrock protocol has no authentication, and ${host} can be reached by other machines: ${ways}`;
    throw new Refusal('malformed.option', message, { host });
  }

  #accept(socket: Socket): void {
    const connection = new BedrockConnection(socket, this.#parts);
    const { address } = connection;
    const count = this.#perAddress.get(address) ?? 0;
    const { connectionsMax, connectionsPerAddressMax } = this.#settings;
    if (this.#closing) return connection.destroy();
    if (this.#connections.size >= connectionsMax || count >= connectionsPerAddressMax) {
      return this.#disconnect(connection, 'too many connections');
    }
    this.#connections.add(connection);
    this.#perAddress.set(address, count + 1);
    void connection.closed.then(() => this.#forget(connection));
  }

  #forget(connection: BedrockConnection): void {
    this.#connections.delete(connection);
    const count = (this.#perAddress.get(connection.address) ?? 1) - 1;
    if (count === 0) this.#perAddress.delete(connection.address);
    else this.#perAddress.set(connection.address, count);
  }

  /** Disconnects slow clients. One timer serves all connections: a timer for each would be reset with every request. */
  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const connection of this.#connections) {
      if (connection.isOverdue(now)) this.#disconnect(connection, 'too slow');
    }
    this.#stopSweeping = this.#clock.after(sweepMs, () => this.#sweep());
  }

  #disconnect(connection: BedrockConnection, why: string): void {
    this.#logger.warn('disconnected a Bedrock client', { client: connection.name, why });
    connection.destroy();
  }

  #dropLater(): void {
    const count = this.#later.size;
    if (count > 0) this.#logger.warn('dropped scheduled Bedrock commands', { count });
    for (const cancel of this.#later) cancel();
  }

  #runLater(work: () => Promise<void>, at: number | null): boolean {
    if (at === null) {
      this.#run(work);
      return true;
    }
    if (this.#later.size >= this.#settings.laterMax) return false;
    const cancel = this.#clock.after(at - this.#services.store.now(), () => {
      this.#later.delete(cancel);
      this.#run(work);
    });
    this.#later.add(cancel);
    return true;
  }

  #run(work: () => Promise<void>): void {
    const running: Promise<void> = work().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
