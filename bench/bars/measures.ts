/** The measures of the bars, in the order in which they are taken. */
import type { Database } from '../database.ts';
import type { Bar } from './bar.ts';
import { inbox } from './inbox.ts';
import { keys } from './keys.ts';
import { limited } from './limited.ts';
import { names } from './names.ts';
import { queues } from './queues.ts';
import { result } from './result.ts';
import { shares } from './shares.ts';
import type { BarSizes } from './sizes.ts';
import { sleeping } from './sleeping.ts';
import { verify } from './verify.ts';
import { waiting } from './waiting.ts';

export interface BarMeasure {
  /** The word for `--only`. */
  readonly name: string;
  measure(database: Database, sizes: BarSizes): Promise<readonly Bar[]>;
}

export const barMeasures: readonly BarMeasure[] = [
  { name: 'queues', measure: queues },
  { name: 'names', measure: names },
  { name: 'waiting', measure: waiting },
  { name: 'result', measure: result },
  { name: 'keys', measure: keys },
  { name: 'limited', measure: limited },
  { name: 'shares', measure: shares },
  { name: 'sleeping', measure: sleeping },
  { name: 'inbox', measure: inbox },
  { name: 'verify', measure: verify },
];
