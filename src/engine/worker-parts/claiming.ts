/** The claiming part of a worker: the claimer with its loop, and claim on create. */
import type { Jobs } from '../../jobs.ts';
import type { Instance } from '../../store/store.ts';
import { Loop, type LoopParts } from '../../time/loop.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import { CanaryShare } from '../loops/canary-share.ts';
import { ClaimOnCreate } from '../loops/claim-on-create.ts';
import { Claimer } from '../loops/claimer.ts';
import type { InstanceCommands } from '../loops/instance-commands.ts';
import type { Leader } from '../loops/leader.ts';
import type { InstanceLease } from '../loops/lease.ts';
import type { YoungGeneration } from '../loops/young-generation.ts';
import type { RunningPart } from './running.ts';

export interface ClaimingNeeds extends LoopParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly registry: TypeRegistry;
  readonly instanceCommands?: InstanceCommands;
  /** The largest share of the jobs that this instance starts; null: it starts what it can. */
  readonly canary: number | null;
  readonly youngGeneration: YoungGeneration;
}

export interface ClaimingPart {
  readonly loop: Loop;
  readonly claimOnCreate: ClaimOnCreate;
  /** Call when a job may be due: claims at once. */
  readonly wake: () => void;
  /** Searches once more for jobs to start; resolves to whether there was none. */
  readonly findsNone: () => Promise<boolean>;
  /** Call before the first turn, with the last heartbeat of the previous process with this name. */
  readonly notePrevious: (process: Instance | undefined) => void;
}

/**
 * Creates the claimer and its loop. When a job leaves its slot or its outcome is stored, the loop is woken, provided
 * that the claimer needs jobs; after a turn that has left jobs, the next one follows without a timer.
 */
export function claiming(
  parts: ClaimingNeeds,
  lease: InstanceLease,
  leader: Leader,
  { attempts, finisher, runner, slots, gathering, starting }: RunningPart,
  isDraining: () => boolean,
): ClaimingPart {
  const { jobs, instance, registry, clock, youngGeneration } = parts;
  const { versions } = registry;
  const claimer = new Claimer({
    jobs, by: instance, clock, lease, slots, gathering, starting, attempts, isDraining,
    types: claimedTypes(parts),
    batchSizes: batchSizes(parts),
    versions,
    limits: () => registry.limits(),
    isLeader: () => leader.isLeader,
    onClaimed: (claimed) => {
      youngGeneration.noteClaimed(claimed.length);
      runner.expect(claimed);
    },
    release: (job) => finisher.release(job),
    pendingOutcomes: () => runner.pendingOutcomes,
    canary: canaryShare(parts),
  });
  const loop = new Loop('claiming', parts, async () => {
    const pauseMs = await claimer.turn();
    if (pauseMs === 0) refill();
    return pauseMs;
  });
  const refill = (): void => {
    if (claimer.needsJobs) loop.wake();
  };
  slots.onFree(() => {
    gathering.startEarly();
    refill();
  });
  gathering.onStart(refill);
  runner.onOutcomeDone(refill);
  runner.onHandled((ms) => claimer.noteHandlerTime(ms));
  const findsNone = async (): Promise<boolean> => {
    const before = claimer.claimed;
    await loop.caughtUp();
    return claimer.wasShort && claimer.claimed === before;
  };
  const wake = (): void => {
    claimer.noteDue();
    loop.wake();
  };
  const holder = { name: instance, versions };
  const notePrevious = (process: Instance | undefined): void => claimer.notePrevious(process);
  return { loop, wake, findsNone, notePrevious, claimOnCreate: new ClaimOnCreate({ jobs, holder, lease, claimer, slots, finisher, isDraining }) };
}

const canaryShare = ({ jobs: { store }, clock, instance, registry: { versions }, canary: share }: ClaimingNeeds) =>
  share === null ? null : new CanaryShare({ store, clock, instance, versions, share });

const batchSizes = ({ registry }: ClaimingNeeds): ReadonlyMap<string, number> =>
  new Map(registry.names.flatMap((name) => {
    const { batch } = registry.require(name).options;
    return batch ? [[name, batch.size] as const] : [];
  }));

const claimedTypes = ({ registry, instanceCommands }: ClaimingNeeds): readonly string[] =>
  instanceCommands === undefined ? registry.names : [...registry.names, instanceCommands.type];
