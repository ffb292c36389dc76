// Figures that a test measured: printed when STINT_FIGURES is set, since only a quiet machine measures well.
import { availableParallelism, loadavg } from 'node:os';

export function figure(name: string, value: number, unit: string): void {
  if (process.env['STINT_FIGURES']) process.stdout.write(`figure: ${name}: ${Math.round(value * 100) / 100} ${unit}\n`);
}

/** A promise made for a machine that has time for us; one that is busy with others is given longer. */
export const onThisMachine = (ms: number): number => ms * Math.max(1, loadavg()[0]! / availableParallelism());
