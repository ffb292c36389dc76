// A proxy in front of the server that loses requests or answers at chosen moments.
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  readonly url: string;
  /** The next request that has this text is done by the server, but its answer never arrives. */
  loseAnswerTo(text: string): void;
  /** The next request that has this text never arrives. */
  loseRequest(text: string): void;
  /** Connections that are open now stay open and carry nothing any more, or no answers; new ones work. */
  swallow(what?: 'all' | 'answers'): void;
  /** Also new connections are accepted and carry nothing, until `recover`. */
  swallowNew(): void;
  recover(): void;
  /** How often something was lost. */
  lost(): number;
  /** Ends all that goes through it. */
  close(): void;
}

interface Loss {
  readonly text: string;
  readonly what: 'answer' | 'request';
}

/** ReadyForQuery outside of a transaction: all that was asked has been done. */
const done = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function openProxy(serverUrl: string): Promise<Proxy> {
  const { hostname, port } = new URL(serverUrl);
  const armed: Loss[] = [];
  const sockets = new Set<Socket>();
  const swallowers = new Set<(what: 'all' | 'answers') => void>();
  let lost = 0;
  let isSwallowingNew = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket.once('close', () => sockets.delete(socket)));
    let isSwallowing = false;
    let swallowed: 'all' | 'answers' | null = isSwallowingNew ? 'all' : null;
    const swallow = (what: 'all' | 'answers'): void => void (swallowed = what);
    swallowers.add(swallow);
    const cut = (): void => {
      lost += 1;
      client.destroy();
      upstream.destroy();
    };
    client.once('close', () => swallowers.delete(swallow));
    client.on('data', (chunk) => {
      if (swallowed === 'all') return;
      const loss = armed.find(({ text }) => chunk.includes(text));
      if (loss) armed.splice(armed.indexOf(loss), 1);
      if (loss?.what === 'request') return cut();
      if (loss) isSwallowing = true;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (swallowed) return;
      if (!isSwallowing) client.write(chunk);
      else if (chunk.includes(done)) cut();
    });
    // A cable that is cut reports no end either.
    endTogether(client, upstream, () => swallowed === null);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseAnswerTo: (text) => void armed.push({ text, what: 'answer' }),
    loseRequest: (text) => void armed.push({ text, what: 'request' }),
    swallow: (what = 'all') => swallowers.forEach((each) => each(what)),
    swallowNew: () => void (isSwallowingNew = true),
    recover: () => void (isSwallowingNew = false),
    lost: () => lost,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function endTogether(client: Socket, upstream: Socket, isConnected: () => boolean): void {
  for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
    one.on('error', () => isConnected() && other.destroy());
    one.on('close', () => isConnected() && other.destroy());
  }
}
