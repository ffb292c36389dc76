/** Starts the Bedrock face of an engine on a port. */
import type { EngineCore } from '../../engine/engine.ts';
import { silent, type Logger } from '../../engine/logger.ts';
import { systemClock } from '../../time/clock.ts';
import { BedrockServer, type BedrockOptions } from './server.ts';

export interface StartBedrockOptions extends BedrockOptions {
  readonly engine: EngineCore;
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly logger?: Logger;
}

export interface StartedBedrock {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

const defaultPort = 8888;

/** The engine stays the caller's to resume and to close. */
export async function startBedrock({
  engine, host = '127.0.0.1', port = defaultPort, logger = silent, ...options
}: StartBedrockOptions): Promise<StartedBedrock> {
  const server = new BedrockServer({ jobs: engine.jobs, clock: systemClock, logger, options });
  const listening = await server.listen(port, host);
  return { host, port: listening.port, close: () => server.close() };
}
