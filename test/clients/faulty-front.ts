// An HTTP server in front of Stint's that loses answers, answers with errors, or is down, when a test says so.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Fault = { readonly kind: 'lose answer' } | { readonly kind: 'answer'; readonly status: number };

interface Hold {
  readonly what: RegExp;
  readonly text: string;
  readonly until: Promise<void>;
}

type ReleaseOf = (body: string) => Promise<void> | undefined;

export interface FaultyFront {
  readonly url: string;
  /** The server executes the next request with this method and path end; its answer is lost. */
  loseAnswerTo(what: RegExp): void;
  /**
   * The next answer to a request like this that contains the text is sent after the call of the returned function. A request
   * that its client has aborted may come later than those that follow it.
   */
  holdAnswerTo(what: RegExp, text: string): () => void;
  /** The next request like this does not reach the server. */
  answer(what: RegExp, status: number): void;
  /** While it is down, every connection is closed at once. */
  setDown(isDown: boolean): void;
  /** How many faults have happened, and how many requests came while it was down. */
  faults(): number;
  /** How many requests like this have come. */
  count(what: RegExp): number;
  /** How many requests like this the client has aborted before their answers. */
  countAborted(what: RegExp): number;
  close(): Promise<void>;
}

export async function openFaultyFront(target: string): Promise<FaultyFront> {
  const armed: { readonly what: RegExp; readonly fault: Fault }[] = [];
  const seen: string[] = [];
  const aborted: string[] = [];
  const holds = new Set<Hold>();
  let isDown = false;
  let faults = 0;
  const take = (line: string): Fault | null => {
    const index = armed.findIndex(({ what }) => what.test(line));
    return index < 0 ? null : armed.splice(index, 1)[0]!.fault;
  };
  /** Returns what an answer to this request waits for, by its text; null: no answer to it is held. */
  const releaseOf = (line: string): ReleaseOf | null => {
    const some = [...holds].filter(({ what }) => what.test(line));
    if (some.length === 0) return null;
    return (body) => some.find((hold) => body.includes(hold.text) && holds.delete(hold))?.until;
  };
  const server = createServer((incoming, response) => {
    const line = `${incoming.method} ${incoming.url}`;
    seen.push(line);
    const fault = take(line);
    response.once('close', () => response.writableFinished || aborted.push(line));
    if (isDown || fault !== null) faults += 1;
    if (isDown) incoming.socket.destroy();
    else if (fault?.kind === 'answer') response.writeHead(fault.status, { 'retry-after': '0' }).end('not now');
    else forward(target, incoming, response, fault, releaseOf(line));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswerTo: (what) => void armed.push({ what, fault: { kind: 'lose answer' } }),
    holdAnswerTo: (what, text) => {
      const { promise: until, resolve } = Promise.withResolvers<void>();
      holds.add({ what, text, until });
      return resolve;
    },
    answer: (what, status) => void armed.push({ what, fault: { kind: 'answer', status } }),
    setDown: (down) => {
      isDown = down;
      if (down) server.closeAllConnections();
    },
    faults: () => faults,
    count: (what) => seen.filter((line) => what.test(line)).length,
    countAborted: (what) => aborted.filter((line) => what.test(line)).length,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Fault | null,
  releaseOf: ReleaseOf | null,
): void {
  const upstream = request(target + incoming.url!, { method: incoming.method!, headers: incoming.headers }, (answer) => {
    const begin = (): ServerResponse => response.writeHead(answer.statusCode!, answer.headers);
    if (fault?.kind === 'lose answer') answer.resume().once('end', () => incoming.socket.destroy());
    else if (releaseOf === null) answer.pipe(begin());
    else void text(answer).then(async (body) => (await releaseOf(body), begin().end(body)), () => incoming.socket.destroy());
  });
  upstream.once('error', () => incoming.socket.destroy());
  response.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}
