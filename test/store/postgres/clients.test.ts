// Clients of the database: a server may end a connection at any moment.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { clientClass } from '../../../src/store/postgres/sql/clients.ts';

test('a server that ends the connection as soon as it is ready does not end the process', async () => {
  const server = await startServer([authenticationOk, readyForQuery, postmasterExit]);
  const Client = clientClass({ hosts: [urlOf(server)], isWritable: false });
  const client = new Client();
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  await client.connect();
  await ended;
  await expect(client.query('select 1')).rejects.toThrow();
});

/** A server that answers the first message of each client with `answers`, and hangs up. */
async function startServer(answers: readonly Buffer[]): Promise<Server> {
  const server = createServer((socket) => socket.once('data', () => socket.end(Buffer.concat(answers))));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

const urlOf = (server: Server): string => `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/jobs`;

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const authenticationOk = message('R', Buffer.from([0, 0, 0, 0]));
const readyForQuery = message('Z', Buffer.from('I'));
const postmasterExit = message(
  'E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'),
);
