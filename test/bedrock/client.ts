// A Bedrock client over a real socket: sends whole commands or raw bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The unparsed text. */
  readonly text: string;
}

export type Fields = Readonly<Record<string, string | number | object>>;

export class Client {
  readonly #socket: Socket;
  readonly #waiting: ((answer: Answer | null) => void)[] = [];
  readonly #ready: Answer[] = [];
  readonly closed: Promise<unknown>;
  #bytes = Buffer.alloc(0);
  #isOver = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = once(socket, 'close');
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    for (const over of ['end', 'close']) socket.on(over, () => this.#endAll());
  }

  static async connect(port: number): Promise<Client> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    return new Client(socket);
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** Sends objects as JSON and doubles backslashes, as every client must. */
  async ask(verb: string, fields: Fields = {}): Promise<Answer> {
    this.send(requestText(verb, fields));
    return this.answer();
  }

  send(text: string | Buffer): void {
    this.#socket.write(text);
  }

  /** The next reply; throws if the connection ends before it. */
  async answer(): Promise<Answer> {
    const answer = await this.answerOrEnd();
    if (answer === null) throw new Error('the connection was closed without an answer');
    return answer;
  }

  answerOrEnd(): Promise<Answer | null> {
    const [ready] = this.#ready.splice(0, 1);
    if (ready || this.#isOver) return Promise.resolve(ready ?? null);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async answers(count: number): Promise<Answer[]> {
    const all: Answer[] = [];
    while (all.length < count) all.push(await this.answer());
    return all;
  }

  /** The state of the job according to QueryJob. */
  async state(id: number): Promise<string> {
    const { status, body } = await this.ask('QueryJob', { jobID: id });
    return status === '200 OK' ? (JSON.parse(body) as { state: string }).state : 'gone';
  }

  /** Disconnects as soon as the request is sent, without reading the reply. */
  async leaveAfter(text: string): Promise<void> {
    this.#socket.write(text, () => this.#socket.destroy());
    await this.closed;
  }

  async close(): Promise<void> {
    this.#socket.destroy();
    await this.closed;
  }

  #endAll(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting.splice(0)) resolve(null);
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (let answer = this.#cut(); answer !== null; answer = this.#cut()) {
      const resolve = this.#waiting.shift();
      if (resolve) resolve(answer);
      else this.#ready.push(answer);
    }
  }

  #cut(): Answer | null {
    const blank = this.#bytes.indexOf('\r\n\r\n');
    if (blank === -1) return null;
    const [status = '', ...lines] = this.#bytes.subarray(0, blank).toString().split('\r\n');
    const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)) as [string, string][]);
    const end = blank + 4 + Number(headers['Content-Length']);
    if (this.#bytes.length < end) return null;
    const [text, body] = [this.#bytes.subarray(0, end).toString(), this.#bytes.subarray(blank + 4, end).toString()];
    this.#bytes = this.#bytes.subarray(end);
    return { status, headers, body, text };
  }
}

export function requestText(verb: string, fields: Fields = {}): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${valueText(value)}\r\n`);
  return `${verb}\r\n${lines.join('')}\r\n`;
}

export function valueText(value: string | number | object): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return text.replace(/[\\\n\r\t]/g, (character) => escapes[character]!);
}
