/** The thread as a host: a worker with a port of its own, so that a handler may use the usual one. */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { HostEnd } from '../../handler/crash.ts';
import { childEntry, type Host, type HostOptions, type Listener } from './host.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';

/** What a thread finds in its `workerData`. */
export interface ThreadData {
  readonly port: MessagePort;
  /** How many reports were heard so far: who is too far ahead waits for it to change. */
  readonly heard: Int32Array<SharedArrayBuffer>;
}

export class ThreadHost implements Host {
  readonly mode = 'thread';
  readonly gone: Promise<HostEnd>;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #heard = new Int32Array(new SharedArrayBuffer(4));
  #listener: Listener | null = null;
  #last: HostEnd | null = null;
  #isKilled = false;

  constructor({ memoryMb }: HostOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(childEntry, {
      name: 'stint handler',
      workerData: { port: port2, heard: this.#heard } satisfies ThreadData,
      transferList: [port2],
      // Kept away from the engine's own output. Nobody reads them, since a reader would keep the process alive: the
      // child reports what is printed.
      stdout: true,
      stderr: true,
      ...(memoryMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
    });
    port1.on('message', (report: ChildReport) => this.#take(report));
    this.gone = this.#end();
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  listen(listener: Listener | null): void {
    this.#listener = listener;
    if (this.#last) listener?.gone(this.#last);
  }

  send(order: ChildCommand): void {
    this.#port.postMessage(order);
  }

  /** What is printed comes as a report, in its order. */
  heard(): Promise<void> {
    return Promise.resolve();
  }

  kill(): Promise<HostEnd> {
    this.#isKilled = true;
    this.hold(true);
    void this.#worker.terminate();
    return this.gone;
  }

  hold(isHeld: boolean): void {
    if (isHeld) {
      this.#worker.ref();
      this.#port.ref();
    } else {
      this.#worker.unref();
      this.#port.unref();
    }
  }

  #take(report: ChildReport): void {
    Atomics.add(this.#heard, 0, 1);
    Atomics.notify(this.#heard, 0);
    this.#listener?.hear(report);
  }

  #end(): Promise<HostEnd> {
    return new Promise((resolve) => {
      let error: unknown;
      this.#worker.on('error', (thrown: unknown) => (error = thrown));
      this.#worker.once('exit', (exitCode) => {
        this.#hearLast();
        this.#last = { exitCode, signal: null, ...(error === undefined ? {} : { error }) };
        this.#listener?.gone(this.#last);
        resolve(this.#last);
      });
    });
  }

  /** The end overtakes reports that wait in the port. */
  #hearLast(): void {
    for (let last = receiveMessageOnPort(this.#port); last; last = receiveMessageOnPort(this.#port)) {
      this.#take(last.message as ChildReport);
    }
    this.#port.close();
  }
}
