/** All measures, in the order in which they are taken. */
import { creates } from './measures/create.ts';
import { batchDrain, drainBy } from './measures/drain.ts';
import { fanOut } from './measures/fan-out.ts';
import { flowShapesMeasure } from './measures/flow-shapes.ts';
import { idle } from './measures/idle.ts';
import { inTransaction } from './measures/in-a-transaction.ts';
import { pickUpElsewhere, pickUpHere } from './measures/pick-up.ts';
import { steps } from './measures/steps.ts';
import type { Measure } from './measure.ts';

export const measures: readonly Measure[] = [
  ...creates, drainBy(1), drainBy(2), pickUpHere, pickUpElsewhere, inTransaction, steps, fanOut, flowShapesMeasure, batchDrain, idle,
];
