/** A minimal client of the Bedrock protocol: one request at a time, replies delimited by Content-Length. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export class BenchClient {
  readonly #socket: Socket;
  #text = '';
  #resolve: (body: string) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => {});
  }

  static async connect(port: number): Promise<BenchClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new BenchClient(socket);
  }

  /** Returns the body of the reply. */
  request(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#socket.write(request);
    });
  }

  async getJob(name: string): Promise<number> {
    const { jobID } = JSON.parse(await this.request(`GetJob\r\nname: ${name}\r\n\r\n`)) as { jobID: number };
    return jobID;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#text += text;
    const blank = this.#text.indexOf('\r\n\r\n');
    if (blank === -1) return;
    const length = Number(/Content-Length: (\d+)/.exec(this.#text)![1]);
    if (this.#text.length < blank + 4 + length) return;
    const body = this.#text.slice(blank + 4, blank + 4 + length);
    this.#text = this.#text.slice(blank + 4 + length);
    this.#resolve(body);
  }
}
