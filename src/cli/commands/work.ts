/** `stint work`: runs an engine without a server. */
import type { Command } from 'commander';
import { addEngineFlags, type EngineFlags } from '../engine-flags.ts';
import { printLine } from '../print.ts';
import { addSettings, printSettings, type SettingsFlags } from '../settings.ts';
import { shownUrl } from '../shown-url.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

export function workCommand(program: Command): void {
  const command = addEngineFlags(program.command('work').description('run jobs without a server'));
  addSettings(command).action(work);
}

async function work(flags: EngineFlags & SettingsFlags, command: Command): Promise<void> {
  if (flags.printConfig) return printSettings(command);
  const stopped = stopSignal();
  const { engineOf } = await import('../engine-options.ts');
  const { engine, url } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  printLine(`${engine.instance} is running on ${shownUrl(url)}`);
  await untilStopped(stopped, engine);
}
