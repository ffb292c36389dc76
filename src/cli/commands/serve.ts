/** `stint serve`: runs an engine and serves it over HTTP and the Bedrock protocol. */
import type { Command } from 'commander';
import type { Logger } from '../../logger.ts';
import type { Engine } from '../../open.ts';
import { isLoopback } from '../../bedrock/connection.ts';
import { priorityMaxDefault, type PriorityLimits } from '../../http/access/priority.ts';
import { tokensPathDefault } from '../../http/access/token-path.ts';
import { checkDefinitionsMax, definitionsMaxDefault } from '../../http/metrics/definition-metrics.ts';
import { applicationMeter } from '../application-meter.ts';
import { addressOf, refusePortInUse, type Address } from '../address-flag.ts';
import { addEngineFlags, type EngineFlags } from '../engine-flags.ts';
import { wholeNumber } from '../number-flag.ts';
import { printLine, styled } from '../print.ts';
import { addSettings, printSettings, type SettingsFlags } from '../settings.ts';
import { shownUrl } from '../shown-url.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

interface ServeFlags extends EngineFlags, SettingsFlags {
  readonly http: string;
  readonly bedrock: string;
  readonly allowUnauthenticatedBedrock?: boolean;
  readonly bedrockReanchor?: boolean;
  readonly tokens?: string;
  readonly producerPriorityMax?: string;
  readonly workerPriorityMax?: string;
  readonly operatorPriorityMax?: string;
  readonly metricDefinitionsMax?: string;
  readonly insecure?: boolean;
  readonly behindTls?: boolean;
}

/** An open server, and the line that `serve` prints about it. */
interface OpenServer {
  readonly line: string;
  close(): Promise<void>;
}

export function serveCommand(program: Command): void {
  const command = addEngineFlags(program.command('serve').description('run jobs and serve HTTP and Bedrock clients'))
    .option('--http <address>', 'where to listen for HTTP: HOST:PORT, or off', '127.0.0.1:7070')
    .option('--bedrock <address>', 'where to listen for Bedrock clients: HOST:PORT, or off', '127.0.0.1:8888')
    .option(
      '--allow-unauthenticated-bedrock',
      'let Bedrock clients of other machines connect: the protocol has no authentication, so they can change all its ' +
        'jobs',
    )
    .option(
      '--bedrock-reanchor',
      'missed SCHEDULED repeats of less than 4 hours skip to their next slot, instead of running one by one',
    )
    .option(
      '--tokens <file>',
      `token file (default: STINT_TOKENS, ${tokensPathDefault}); without tokens, only this machine has access`,
    )
    .option('--producer-priority-max <n>', `highest priority that producers may give (default: ${priorityMaxDefault})`)
    .option(
      '--worker-priority-max <n>', `highest priority of children that workers create (default: ${priorityMaxDefault})`,
    )
    .option('--operator-priority-max <n>', 'highest priority that operators may give (default: no limit)')
    .option(
      '--metric-definitions-max <n>',
      `how many definitions have a label of their own in the metrics (default: ${definitionsMaxDefault})`,
    )
    .option('--behind-tls', 'a proxy in front terminates TLS')
    .option('--insecure', 'allow other machines to connect without TLS');
  addSettings(command).action(serve);
}

async function serve(flags: ServeFlags, command: Command): Promise<void> {
  if (flags.printConfig) return printSettings(command);
  const stopped = stopSignal();
  const addresses = addressesOf(flags);
  const { engineOf } = await import('../engine-options.ts');
  const { engine, url, logger } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  const servers = await openServers(engine, addresses, flags, logger);
  printLine(`${styled('bold', 'Stint')} is running on ${shownUrl(url)}`);
  for (const { line } of servers) printLine(`  ${line}`);
  await untilStopped(stopped, engine, () => Promise.all(servers.map((server) => server.close())));
}

/** Opens all servers or none, so that a port in use is reported before any address is printed. */
async function openServers(
  engine: Engine, { http, bedrock }: Addresses, flags: ServeFlags, logger: Logger,
): Promise<readonly OpenServer[]> {
  const opened: OpenServer[] = [];
  try {
    if (http !== null) opened.push(await openHttp(engine, http, flags, logger));
    if (bedrock !== null) opened.push(await openBedrock(engine, bedrock, flags, logger));
    return opened;
  } catch (error) {
    await Promise.all(opened.map((server) => server.close()));
    await engine.close({ patience: '1s' });
    throw error;
  }
}

async function openHttp(engine: Engine, address: HttpAddress, flags: ServeFlags, logger: Logger): Promise<OpenServer> {
  const { startHttp } = await import('../../http/start.ts');
  const meter = await applicationMeter();
  const started = await startHttp({
    engine,
    logger,
    ...address,
    ...(meter === null ? {} : { meter }),
    ...(flags.tokens === undefined ? {} : { tokens: flags.tokens }),
    ...(flags.insecure ? { isInsecure: true } : {}),
    ...(flags.behindTls ? { isBehindTls: true } : {}),
  }).catch(refusePortInUse('--http', address));
  return { line: `HTTP     ${started.url}  dashboard and API`, close: () => started.close() };
}

async function openBedrock(engine: Engine, address: Address, flags: ServeFlags, logger: Logger): Promise<OpenServer> {
  const { startBedrock } = await import('../../bedrock/start.ts');
  const started = await startBedrock({
    engine,
    logger,
    ...address,
    ...(flags.allowUnauthenticatedBedrock ? { isOpenToAll: true } : {}),
    ...(flags.bedrockReanchor ? { reanchor: true } : {}),
  }).catch(refusePortInUse('--bedrock', address));
  const warning = isLoopback(started.host) ? '' : '  other machines have access, without authentication';
  return { line: `Bedrock  ${started.host}:${started.port}${warning}`, close: () => started.close() };
}

interface HttpAddress extends Address {
  readonly priorities: PriorityLimits;
  readonly metricDefinitionsMax?: number;
}

interface Addresses {
  /** Null: off. */
  readonly http: HttpAddress | null;
  readonly bedrock: Address | null;
}

/**
 * Parses the options of both servers before the engine starts, so that a wrong one is refused before a job is claimed.
 */
function addressesOf({ http, bedrock, ...flags }: ServeFlags): Addresses {
  const options = { priorities: prioritiesOf(flags), ...metricOptions(flags) };
  const httpAddress = addressOf('--http', http);
  return { http: httpAddress && { ...httpAddress, ...options }, bedrock: addressOf('--bedrock', bedrock) };
}

function metricOptions({ metricDefinitionsMax: text }: Pick<ServeFlags, 'metricDefinitionsMax'>): Pick<HttpAddress, 'metricDefinitionsMax'> {
  const flag = '--metric-definitions-max';
  return text === undefined ? {} : { metricDefinitionsMax: checkDefinitionsMax(flag, wholeNumber(flag, text)) };
}

type PriorityFlags = Pick<ServeFlags, 'producerPriorityMax' | 'workerPriorityMax' | 'operatorPriorityMax'>;

const prioritiesOf = ({ producerPriorityMax, workerPriorityMax, operatorPriorityMax }: PriorityFlags): PriorityLimits => ({
  ...(producerPriorityMax === undefined ? {} : { producer: wholeNumber('--producer-priority-max', producerPriorityMax) }),
  ...(workerPriorityMax === undefined ? {} : { worker: wholeNumber('--worker-priority-max', workerPriorityMax) }),
  ...(operatorPriorityMax === undefined ? {} : { operator: wholeNumber('--operator-priority-max', operatorPriorityMax) }),
});
