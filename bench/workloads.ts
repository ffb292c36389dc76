/** All workloads, in the order in which they run. */
import { backlog } from './workloads/backlog.ts';
import { createBulk } from './workloads/create-bulk.ts';
import { createInFlight } from './workloads/create-in-flight.ts';
import { createSingle } from './workloads/create-single.ts';
import { drain } from './workloads/drain.ts';
import { glob } from './workloads/glob.ts';
import { pickUpElsewhere, pickUpHere } from './workloads/pick-up.ts';
import { scaleDefinitions } from './workloads/scale-definitions.ts';
import { scaleDeadTuples, scaleIdleTransaction } from './workloads/scale-churn.ts';
import { scaleInstances } from './workloads/scale-instances.ts';
import { scaleKeys } from './workloads/scale-keys.ts';
import { scaleNames } from './workloads/scale-names.ts';
import { scaleProcesses } from './workloads/scale-processes.ts';
import { scaleTasks } from './workloads/scale-tasks.ts';
import type { Workload } from './workload.ts';

export const workloads: readonly Workload[] = [
  createSingle, createInFlight, createBulk, drain, pickUpHere, pickUpElsewhere, backlog, glob,
  scaleProcesses, scaleInstances, scaleTasks, scaleDefinitions, scaleKeys, scaleNames, scaleDeadTuples, scaleIdleTransaction,
];
