/** `stint work`: runs an engine without a server. */
import type { Command } from 'commander';
import { addEngineFlags, type EngineFlags } from '../engine-flags.ts';
import { printLine } from '../print.ts';
import { shownUrl } from '../shown-url.ts';
import { openUnlessStopped, stopSignal, untilStopped } from '../stop.ts';

export function workCommand(program: Command): void {
  addEngineFlags(program.command('work').description('run jobs without a server')).action(work);
}

async function work(flags: EngineFlags): Promise<void> {
  const stopped = stopSignal();
  const { engineOf } = await import('../engine-options.ts');
  const { engine, url } = await openUnlessStopped(stopped, engineOf(flags));
  await engine.resume();
  printLine(`${engine.instance} is running on ${shownUrl(url)}`);
  await untilStopped(stopped, engine);
}
