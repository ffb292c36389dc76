/** `stint work`: runs an engine without a server. */
import type { Command } from 'commander';
import { engineOf, addEngineFlags, shownUrl, type EngineFlags } from '../engine-options.ts';
import { printLine } from '../print.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

export function workCommand(program: Command): void {
  addEngineFlags(program.command('work').description('run jobs without a server')).action(work);
}

async function work(flags: EngineFlags): Promise<void> {
  const stopped = stopSignal();
  const { engine, url } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  printLine(`${engine.instance} is running on ${shownUrl(url)}`);
  await untilStopped(stopped, engine);
}
