/** Starts the Bedrock server of an engine on a port. */
import type { EngineCore } from '../engine/engine.ts';
import { silent, type Logger } from '../logger.ts';
import { systemClock } from '../time/clock.ts';
import { BedrockServer, type BedrockOptions } from './server.ts';

export interface StartBedrockOptions extends BedrockOptions {
  /** The engine whose jobs are served. The Bedrock server neither resumes nor closes it. */
  readonly engine: EngineCore;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** The port to listen on; 0 selects a free port. Default: 8888. */
  readonly port?: number;
  /** Receives unexpected errors of the server, and warnings about disconnected clients. Default: nothing is logged. */
  readonly logger?: Logger;
}

export interface StartedBedrock {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

const defaultPort = 8888;

/** Starts the server. Throws a refusal if other machines can reach `host`, unless `isOpenToAll` is set. */
export async function startBedrock({
  engine, host = '127.0.0.1', port = defaultPort, logger = silent, ...options
}: StartBedrockOptions): Promise<StartedBedrock> {
  const server = new BedrockServer({ jobs: engine.jobs, clock: systemClock, logger, options });
  const listening = await server.listen(port, host);
  return { host, port: listening.port, close: () => server.close() };
}
