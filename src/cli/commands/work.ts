/** `stint work`: runs an engine without a server, except for health checks. */
import type { Command } from 'commander';
import type { Engine } from '../../open.ts';
import { addressOf, refusePortInUse, type Address } from '../address-flag.ts';
import { addEngineFlags, type EngineFlags } from '../engine-flags.ts';
import { printLine } from '../print.ts';
import { addSettings, printSettings, type SettingsFlags } from '../settings.ts';
import { shownUrl } from '../shown-url.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

interface WorkFlags extends EngineFlags, SettingsFlags {
  readonly health: string;
}

const healthFlag = '--health';

export function workCommand(program: Command): void {
  const command = addEngineFlags(program.command('work').description('run jobs without a server'))
    .option(`${healthFlag} <address>`, 'where to answer health checks over HTTP: HOST:PORT, or off', 'off');
  addSettings(command).action(work);
}

async function work(flags: WorkFlags, command: Command): Promise<void> {
  if (flags.printConfig) return printSettings(command);
  const stopped = stopSignal();
  const address = addressOf(healthFlag, flags.health);
  const { engineOf } = await import('../engine-options.ts');
  const { engine, url } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  const health = address && (await openHealth(engine, address));
  printLine(`${engine.instance} is running on ${shownUrl(url)}`);
  if (health !== null) printLine(`  health checks: ${health.url}/health`);
  await untilStopped(stopped, engine, async () => health?.close());
}

async function openHealth(engine: Engine, address: Address) {
  try {
    const { startHealthServer } = await import('../../http/health-server.ts');
    return await startHealthServer({ store: engine.jobs.store, ...address }).catch(refusePortInUse(healthFlag, address));
  } catch (error) {
    await engine.close({ patience: '1s' });
    throw error;
  }
}
