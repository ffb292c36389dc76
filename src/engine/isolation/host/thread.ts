/** A thread as host: a worker with a separate message port, so that handlers can use `parentPort` themselves. */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { Host, type HostOptions } from './host.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';

/** The `workerData` of a thread. */
export interface ThreadData {
  readonly port: MessagePort;
  /**
   * Element 0 counts the reports that the engine has received. The thread waits while `unreceivedMax` of the reports
   * that it has sent are not received.
   */
  readonly received: Int32Array<SharedArrayBuffer>;
}

export class ThreadHost extends Host {
  readonly mode = 'thread';
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #received = new Int32Array(new SharedArrayBuffer(4));

  constructor({ entry, memoryMb }: HostOptions) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(entry, {
      name: 'stint handler',
      workerData: { port: port2, received: this.#received } satisfies ThreadData,
      transferList: [port2],
      // Separates the output of the thread from that of the engine. These streams are not read, since a reader would
      // keep the process alive; the thread sends printed lines as reports instead.
      stdout: true,
      stderr: true,
      ...(memoryMb === null ? {} : { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
    });
    port1.on('message', (report: ChildReport) => this.#receive(report));
    this.#watchEnd();
  }

  send(command: ChildCommand): void {
    this.#port.postMessage(command);
  }

  /** Resolves immediately: printed lines are sent as reports, which arrive before the outcome of the call. */
  outputDelivered(): Promise<void> {
    return Promise.resolve();
  }

  setRef(isReferenced: boolean): void {
    for (const handle of [this.#worker, this.#port]) {
      if (isReferenced) handle.ref();
      else handle.unref();
    }
  }

  protected terminate(): void {
    void this.#worker.terminate();
  }

  #receive(report: ChildReport): void {
    Atomics.add(this.#received, 0, 1);
    Atomics.notify(this.#received, 0);
    this.deliver(report);
  }

  #watchEnd(): void {
    let error: unknown;
    this.#worker.on('error', (thrown: unknown) => (error = thrown));
    this.#worker.once('exit', (exitCode) => {
      this.#drainPort();
      this.deliverEnd({ exitCode, signal: null, ...(error === undefined ? {} : { error }) });
    });
  }

  /** Delivers the reports that are still in the port: the event `exit` can arrive before them. */
  #drainPort(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as ChildReport);
    }
    this.#port.close();
  }
}
