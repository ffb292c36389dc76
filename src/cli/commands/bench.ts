/** `stint bench`: measures a store. */
import type { Command } from 'commander';
import type { BenchOptions } from '../bench.ts';
import { addStoreFlags } from '../session.ts';

export function benchCommand(program: Command): void {
  addStoreFlags(program.command('bench').description('measure the speed of this store, then remove the test jobs'))
    .option('--jobs <n>', 'number of jobs', '5000')
    .option('--slots <n>', 'handlers to run at a time', '32')
    .action(measure);
}

async function measure(options: BenchOptions): Promise<void> {
  const { bench } = await import('../bench.ts');
  await bench(options);
}
