/** `stint work`: runs an engine without a server, except for health checks. */
import type { Command } from 'commander';
import type { EndedJobs } from '../../engine/attempt/attempt-counts.ts';
import type { Engine } from '../../open.ts';
import { Refusal } from '../../refusal.ts';
import { addressOf, refusePortInUse, type Address } from '../address-flag.ts';
import { addEngineFlags, type EngineFlags } from '../engine-flags.ts';
import { counted, printLine } from '../print.ts';
import { addSettings, printSettings, type SettingsFlags } from '../settings.ts';
import { shownUrl } from '../shown-url.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

interface WorkFlags extends EngineFlags, SettingsFlags {
  readonly health: string;
  readonly once?: boolean;
}

const healthFlag = '--health';
/** With --once: a job has failed for good. */
const exitCodeFailed = 3;

export function workCommand(program: Command): void {
  const command = addEngineFlags(program.command('work').description('run jobs without a server'))
    .option(`${healthFlag} <address>`, 'where to answer health checks over HTTP: HOST:PORT, or off', 'off')
    .option('--once', 'exit when nothing that is due can start; exit code 3: a job has failed for good');
  addSettings(command).action(work);
}

async function work(flags: WorkFlags, command: Command): Promise<void> {
  if (flags.printConfig) return printSettings(command);
  if (flags.once && flags.canary !== undefined) {
    throw new Refusal('malformed.option', 'use only one of --once and --canary: a canary leaves due jobs to others', {});
  }
  const stopped = stopSignal();
  const address = addressOf(healthFlag, flags.health);
  const { engineOf } = await import('../engine-options.ts');
  const { engine, url } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  const health = address && (await openHealth(engine, address));
  printLine(`${engine.instance} is running on ${shownUrl(url)}`);
  if (health !== null) printLine(`  health checks: ${health.url}/health`);
  const close = async (): Promise<void> => health?.close();
  const ended = flags.once ? await Promise.race([engine.whenIdle(), stopped]) : stopped;
  if (!isEndedJobs(ended)) return untilStopped(stopped, engine, close);
  await close();
  await engine.close();
  printLine(`Nothing that is due can start: ${counted(ended.succeeded, 'job')} succeeded, ${ended.failed} failed`);
  if (ended.failed > 0) process.exitCode = exitCodeFailed;
}

const isEndedJobs = (ended: unknown): ended is EndedJobs => typeof ended === 'object' && ended !== null && 'failed' in ended;

async function openHealth(engine: Engine, address: Address) {
  try {
    const { startHealthServer } = await import('../../http/health-server.ts');
    return await startHealthServer({ store: engine.jobs.store, ...address }).catch(refusePortInUse(healthFlag, address));
  } catch (error) {
    await engine.close({ patience: '1s' });
    throw error;
  }
}
