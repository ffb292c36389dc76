/**
 * Registration: an instance name belongs to one process at a time. After a crash, the next process with the name waits
 * until the lease of the dead process has lapsed. It does not wait if it can check that the other process is dead,
 * which is possible on the same host. While another process sends heartbeats under the name, the start is refused.
 */
import { isRefusal, type Refusal } from '../../refusal.ts';
import type { Instance, InstanceAbout, Store } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import type { Heartbeat } from './heartbeat.ts';

export interface RegistrationParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly instance: string;
  readonly host: string;
  readonly leaseMs: number;
  readonly heartbeat: Heartbeat;
}

/**
 * Sends the first heartbeat. If another process has the name, waits until the lease of that process lapses. Takes over
 * the name at once if that process is dead; throws `taken.instance` if it sends a further heartbeat. Returns what the
 * previous process with the name has published last; undefined: there was none.
 */
export async function register(parts: RegistrationParts): Promise<Instance | undefined> {
  const { clock, leaseMs, heartbeat } = parts;
  let firstSeen: Instance | undefined;
  for (;;) {
    const previous = await otherProcess(parts);
    const taken = await refusalOf(heartbeat.beat());
    if (taken === null) return previous;
    const other = await otherProcess(parts);
    if (other !== undefined && isDead(other.about, parts.host)) {
      await heartbeat.beat({ takeOver: true });
      return other;
    }
    if (other !== undefined && firstSeen !== undefined && isAnotherBeat(firstSeen, other)) throw taken;
    firstSeen ??= other;
    await clock.sleep(leaseMs / 12);
  }
}

/** The refusal `taken.instance` of a heartbeat; null: the heartbeat succeeded and the name is ours. */
async function refusalOf(beat: Promise<void>): Promise<Refusal | null> {
  try {
    await beat;
    return null;
  } catch (error) {
    if (isRefusal(error) && error.code === 'taken.instance') return error;
    throw error;
  }
}

const otherProcess = async ({ store, instance }: RegistrationParts): Promise<Instance | undefined> =>
  (await store.instances()).find(({ id }) => id === instance);

const isAnotherBeat = (before: Instance, now: Instance): boolean =>
  now.beatAt > before.beatAt && now.about.boot === before.about.boot;

/**
 * True: the process is known to be dead. False: it is alive, or this cannot be checked. Only a process of this host
 * with another pid than this process can be checked: after the restart of a container, both processes can have the same
 * pid, and `kill` would find this process.
 */
function isDead({ host, pid }: InstanceAbout, ownHost: string): boolean {
  if (host !== ownHost || pid === process.pid || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH';
  }
}
