// A proxy before the server that loses requests or answers at will: what nobody else can do at the right moment.
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  readonly url: string;
  /** The next request that has this text is done by the server, but its answer never arrives. */
  loseAnswerTo(text: string): void;
  /** The next request that has this text never arrives. */
  loseRequest(text: string): void;
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
  const clients = new Set<Socket>();
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isSwallowing = false;
    const cut = (): void => {
      lost += 1;
      client.destroy();
      upstream.destroy();
    };
    clients.add(client.once('close', () => clients.delete(client)));
    client.on('data', (chunk) => {
      const loss = armed.find(({ text }) => chunk.includes(text));
      if (loss) armed.splice(armed.indexOf(loss), 1);
      if (loss?.what === 'request') return cut();
      if (loss) isSwallowing = true;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!isSwallowing) client.write(chunk);
      else if (chunk.includes(done)) cut();
    });
    endTogether(client, upstream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(serverUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseAnswerTo: (text) => void armed.push({ text, what: 'answer' }),
    loseRequest: (text) => void armed.push({ text, what: 'request' }),
    lost: () => lost,
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

function endTogether(client: Socket, upstream: Socket): void {
  for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}
