// The door of Bedrock's protocol: messages over a real connection, and what the server may answer.
import { once } from 'node:events';
import { connect } from 'node:net';
import { BedrockServer } from '../../src/bedrock/server.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Logger } from '../../src/logger.ts';
import { Engine, openStore } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { verify, violationText } from '../../src/verify.ts';
import { waitMs } from '../support/patience.ts';
import type { Door, Judged, OpenDoor } from './door.ts';
import { bedrockInputs, type BedrockInput } from './bedrock-messages.ts';

/** The statuses of errors that the server cannot explain. */
const unexplained = /^500 (?:Unhandled Exception|Refused)/;

export function judge(answers: readonly string[], rest: string, expected: number | null): string | null {
  if (rest !== '') return `bytes after the last answer: ${JSON.stringify(rest.slice(0, 200))}`;
  const odd = answers.find((status) => !/^\d{3} \S/.test(status) || unexplained.test(status));
  if (odd !== undefined) return `the answer ${odd}`;
  return expected === null || answers.length === expected ? null : `${answers.length} answers to ${expected} messages`;
}

/** Cuts the answers of a connection apart: the status line of each, and the bytes that are none. */
export function readAnswers(bytes: Buffer): { readonly answers: readonly string[]; readonly rest: string } {
  const answers: string[] = [];
  let at = 0;
  for (let blank = bytes.indexOf('\r\n\r\n', at); blank !== -1; blank = bytes.indexOf('\r\n\r\n', at)) {
    const head = bytes.toString('utf8', at, blank);
    const [, length] = /\r\nContent-Length: (\d+)$/.exec(head) ?? [];
    if (length === undefined || blank + 4 + Number(length) > bytes.length) break;
    answers.push(head.split('\r\n')[0]!);
    at = blank + 4 + Number(length);
  }
  return { answers, rest: bytes.toString('utf8', at) };
}

class BedrockDoor implements OpenDoor<BedrockInput> {
  readonly inputs = bedrockInputs;
  readonly #store: Store;
  readonly #server: BedrockServer;
  /** Repairs and settles, as in `stint serve`: some requests leave a child open that its ended parent does not know. */
  readonly #engine: Engine;
  /** What the server has logged as an error: a command that failed unexpectedly. */
  readonly #errors: string[] = [];
  #port = 0;

  constructor(store: string) {
    const logger: Logger = {
      info() {},
      warn() {},
      error: (message, about) => void this.#errors.push(`${message}: ${String(about?.['error'])}`),
    };
    this.#store = openStore(store);
    this.#server = new BedrockServer({ jobs: new Jobs(this.#store), clock: systemClock, logger, options: {} });
    this.#engine = new Engine({ store: this.#store, types: [], defs: [], logger });
  }

  async listen(): Promise<void> {
    await this.#store.migrate();
    await this.#engine.resume();
    this.#port = (await this.#server.listen(0, '127.0.0.1')).port;
  }

  async send({ pieces: sent, answers: expected }: BedrockInput): Promise<Judged> {
    const received = await this.#converse(sent, expected);
    const { answers, rest } = readAnswers(received);
    const wrong = judge(answers, rest, expected) ?? this.#errors.shift() ?? null;
    return { answer: answers.at(-1)?.slice(0, 3) ?? 'closed', wrong };
  }

  /** Sends the pieces and returns what comes back until the server has closed the connection. */
  async #converse(sent: readonly Buffer[], expected: number | null): Promise<Buffer> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    let received = Buffer.alloc(0);
    const enough = Promise.withResolvers<void>();
    // Whoever ends its side of the connection gets no job: the answers to sound messages are awaited first.
    const isEnough = (): boolean => expected === null || readAnswers(received).answers.length >= expected;
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (isEnough()) enough.resolve();
    });
    const closed = once(socket, 'close');
    socket.on('error', () => {}).on('end', () => enough.resolve()).on('close', () => enough.resolve());
    socket.setTimeout(waitMs, () => socket.destroy(new Error('no answer')));
    await once(socket, 'connect');
    for (const piece of sent) await new Promise<void>((resolve) => void socket.write(piece, () => resolve()));
    if (isEnough()) enough.resolve();
    await enough.promise;
    socket.end();
    await closed;
    return received;
  }

  async check(): Promise<readonly string[]> {
    const { answer } = await this.send({ pieces: [Buffer.from('Ping\r\n\r\n')], answers: 1 });
    const found = answer === '200' ? [] : [`a ping is answered with ${answer}`];
    for await (const violation of verify(this.#store)) found.push(violationText(violation));
    return found;
  }

  async close(): Promise<void> {
    await this.#server.close();
    await this.#engine.close();
    await this.#store.close();
  }
}

export const bedrock: Door<BedrockInput> = {
  name: 'bedrock',
  async open(store) {
    const door = new BedrockDoor(store);
    await door.listen();
    return door;
  },
};
