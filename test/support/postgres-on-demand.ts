// The PostgreSQL of a test run: started when the first test asks for it, so that tests without one start at once.
import { createServer, type AddressInfo } from 'node:net';
import { TestPostgres } from './postgres.ts';

export interface PostgresOnDemand {
  /** Whoever connects to this loopback port is sent the URL of the server. */
  readonly port: number;
  /** Can be called more than once. */
  stop(): Promise<void>;
}

export async function postgresOnDemand(start: () => Promise<PostgresUrl> = startPostgres): Promise<PostgresOnDemand> {
  let started: Promise<PostgresUrl> | undefined;
  const desk = createServer((socket) => {
    started ??= start();
    started.then(({ url }) => socket.end(url), (error: unknown) => socket.end(`error: ${String(error)}`));
  });
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    desk.close();
    await (await started)?.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    port: (desk.address() as AddressInfo).port,
    stop: () => (stopped ??= stop()),
  };
}

export interface PostgresUrl {
  readonly url: string;
  stop(): Promise<void>;
}

const startPostgres = (): Promise<PostgresUrl> => TestPostgres.create();
