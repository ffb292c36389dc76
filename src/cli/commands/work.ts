/** `stint work`: an engine alone. */
import type { Command } from 'commander';
import { engineOf, running, shownUrl, untilAsked, type EngineFlags } from '../engine-options.ts';
import { printLine } from '../print.ts';

export function workCommand(program: Command): void {
  running(program.command('work').description('run jobs, without a server')).action(work);
}

async function work(flags: EngineFlags): Promise<void> {
  const { engine, url } = await engineOf(flags);
  await engine.resume();
  printLine(`${engine.instance} works on ${shownUrl(url)}`);
  await untilAsked();
  await engine.close();
}
