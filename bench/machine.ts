/** The machine and the Node version of a measurement. */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

export interface Machine {
  readonly date: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Load average over one minute before the first measurement. */
  readonly loadBefore: number;
  readonly node: string;
}

export const thisMachine = (): Machine => ({
  date: new Date().toISOString(),
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  loadBefore: loadavg()[0]!,
  node: process.version,
});
