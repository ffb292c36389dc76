// A receiver of alerts on a free port of this machine: keeps what it gets, and answers as the test says, with the path in the body and a place to go to.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is received is what the tests look at
  readonly body: any;
}

/** A status with which the receiver gives no answer. */
export const noAnswer = 0;

export class Receiver {
  readonly received: Received[] = [];
  /** The statuses of the next answers; then 200. */
  readonly statuses: number[] = [];
  readonly #server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part)).on('end', () => {
      this.received.push({ path: request.url!, headers: request.headers, body: text === '' ? null : JSON.parse(text) as unknown });
      const status = this.statuses.shift() ?? 200;
      if (status !== noAnswer) response.writeHead(status, { location: '/moved' }).end(`Cannot POST ${request.url}`);
      for (const call of this.#waiting) call();
    });
  });
  readonly #waiting = new Set<() => void>();

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when `isEnough` holds of what was received. */
  async until(isEnough: (received: readonly Received[]) => boolean): Promise<void> {
    while (!isEnough(this.received)) {
      await new Promise<void>((resolve) => {
        const call = (): void => {
          this.#waiting.delete(call);
          resolve();
        };
        this.#waiting.add(call);
      });
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
