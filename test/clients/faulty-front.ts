// An HTTP server in front of Stint's that loses answers, answers with errors, or is down, when a test says so.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fault = { readonly kind: 'lose answer' } | { readonly kind: 'hold answer'; readonly until: Promise<void> } | { readonly kind: 'answer'; readonly status: number };

export interface FaultyFront {
  readonly url: string;
  /** The server executes the next request with this method and path end; its answer is lost. */
  loseAnswerTo(what: RegExp): void;
  /** The server executes the next request like this; its answer is sent after the call of the returned function. */
  holdAnswerTo(what: RegExp): () => void;
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
  let isDown = false;
  let faults = 0;
  const take = (line: string): Fault | null => {
    const index = armed.findIndex(({ what }) => what.test(line));
    return index < 0 ? null : armed.splice(index, 1)[0]!.fault;
  };
  const server = createServer((incoming, response) => {
    const line = `${incoming.method} ${incoming.url}`;
    seen.push(line);
    const fault = take(line);
    response.once('close', () => response.writableFinished || aborted.push(line));
    if (isDown || fault !== null) faults += 1;
    if (isDown) incoming.socket.destroy();
    else if (fault?.kind === 'answer') response.writeHead(fault.status, { 'retry-after': '0' }).end('not now');
    else forward(target, incoming, response, fault);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswerTo: (what) => void armed.push({ what, fault: { kind: 'lose answer' } }),
    holdAnswerTo: (what) => {
      const { promise: until, resolve } = Promise.withResolvers<void>();
      armed.push({ what, fault: { kind: 'hold answer', until } });
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

function forward(target: string, incoming: IncomingMessage, response: ServerResponse, fault: Fault | null): void {
  const upstream = request(target + incoming.url!, { method: incoming.method!, headers: incoming.headers }, (answer) => {
    const pass = (): void => void answer.pipe(response.writeHead(answer.statusCode!, answer.headers));
    if (fault?.kind === 'lose answer') answer.resume().once('end', () => incoming.socket.destroy());
    else if (fault?.kind === 'hold answer') void fault.until.then(pass);
    else pass();
  });
  upstream.once('error', () => incoming.socket.destroy());
  response.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}
