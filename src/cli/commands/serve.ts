/** `stint serve`: an engine with its faces: HTTP for people and programs, Bedrock's protocol for its clients. */
import type { Command } from 'commander';
import type { Logger } from '../../logger.ts';
import type { Engine } from '../../open.ts';
import { Refusal } from '../../refusal.ts';
import { startBedrock } from '../../bedrock/start.ts';
import { startHttp, tokensPathDefault } from '../../http/start.ts';
import { engineOf, running, shownUrl, untilAsked, type EngineFlags } from '../engine-options.ts';
import { printLine, styled } from '../print.ts';

interface ServeFlags extends EngineFlags {
  readonly http: string;
  readonly bedrock: string;
  readonly tokens?: string;
  readonly insecure?: boolean;
  readonly behindTls?: boolean;
}

/** A face that is open: what to say of it, and how to close it. */
interface OpenFace {
  readonly says: string;
  close(): Promise<void>;
}

export function serveCommand(program: Command): void {
  running(program.command('serve').description('run jobs, and serve HTTP and Bedrock clients'))
    .option('--http <address>', 'HOST:PORT, or off', '127.0.0.1:7070')
    .option('--bedrock <address>', 'HOST:PORT, or off', '127.0.0.1:8888')
    .option(
      '--tokens <file>',
      `who may do what (else STINT_TOKENS, ${tokensPathDefault}); with none, only this machine is let in`,
    )
    .option('--behind-tls', 'a proxy in front encrypts')
    .option('--insecure', 'serve other machines without encryption')
    .action(serve);
}

async function serve(flags: ServeFlags): Promise<void> {
  const { engine, url, logger } = await engineOf(flags);
  await engine.resume();
  const faces = await openFaces(engine, flags, logger);
  printLine(`${styled('bold', 'Stint')} works on ${shownUrl(url)}`);
  for (const { says } of faces) printLine(`  ${says}`);
  await untilAsked();
  await Promise.all(faces.map((face) => face.close()));
  await engine.close();
}

/** All of them, or none: a port that is taken is told before anything is promised. */
async function openFaces(engine: Engine, flags: ServeFlags, logger: Logger): Promise<readonly OpenFace[]> {
  const opened: OpenFace[] = [];
  try {
    if (flags.http !== 'off') opened.push(await openHttp(engine, flags, logger));
    if (flags.bedrock !== 'off') opened.push(await openBedrock(engine, flags, logger));
    return opened;
  } catch (error) {
    await Promise.all(opened.map((face) => face.close()));
    await engine.close({ patience: '1s' });
    throw error;
  }
}

async function openHttp(engine: Engine, flags: ServeFlags, logger: Logger): Promise<OpenFace> {
  const address = addressOf('--http', flags.http);
  const started = await startHttp({
    engine,
    logger,
    ...address,
    ...(flags.tokens === undefined ? {} : { tokens: flags.tokens }),
    ...(flags.insecure ? { isInsecure: true } : {}),
    ...(flags.behindTls ? { isBehindTls: true } : {}),
  }).catch(unlessTaken('--http', address));
  return { says: `HTTP     ${started.url}  dashboard and API`, close: () => started.close() };
}

async function openBedrock(engine: Engine, flags: ServeFlags, logger: Logger): Promise<OpenFace> {
  const address = addressOf('--bedrock', flags.bedrock);
  const started = await startBedrock({ engine, logger, ...address }).catch(unlessTaken('--bedrock', address));
  return { says: `Bedrock  ${started.host}:${started.port}`, close: () => started.close() };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const unlessTaken = (flag: string, { host, port }: Address) => (error: unknown): never => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  const instead = `say ${flag} ${host}:0 for a free port`;
  const message = `cannot listen on ${host}:${port}: something else does. Stop it, or ${instead}`;
  throw new Refusal('malformed.option', message, { host, port });
};

function addressOf(flag: string, text: string): Address {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) < 65_536) return { host: host ?? '127.0.0.1', port: Number(port) };
  throw new Refusal('malformed.option', `${flag} takes HOST:PORT or off, not ${text.slice(0, 60)}`, {});
}
