/**
 * The processes that one program started, ended together. Its process group is signalled on every system. On Linux,
 * descendants outside the group are found, too: by the chain of parents, recorded while the program runs, and by a mark
 * in their environment. A descendant escapes if its parent exited before it was recorded, it left the group and
 * session, and it cleared its environment. Only a cgroup or a PID namespace would hold such a process.
 */
import { systemClock } from '../time/clock.ts';
import {
  hasInEnvironment, hasProc, processEntries, processEntriesNow, processEntry, type ProcessEntry,
} from './process-table.ts';

/** The interval at which descendants are recorded doubles from the first to the second number. */
const recordFirstMs = 50;
const recordMaxMs = 1_000;
/** Between two searches for remaining processes. */
const searchMs = 10;
const searchMax = 100;
const hasGroups = process.platform !== 'win32';

export class ProcessTree {
  readonly #leader: number;
  readonly #mark: string;
  readonly #startTicks: number;
  /** The start times, by pid, of recorded processes with a remaining member of their group or session. */
  #known = new Map<number, number>();
  #isGroupSafe = true;

  /** `mark` is a text of the program's environment that no other process has. */
  constructor(leader: number, mark: string) {
    this.#leader = leader;
    this.#mark = mark;
    this.#startTicks = processEntry(leader)?.startTicks ?? 0;
    this.#known.set(leader, this.#startTicks);
    addLive(this);
  }

  /** Signals the group at once, and descendants outside the group as soon as they are found on Linux. */
  signal(signal: NodeJS.Signals): void {
    const isGroupSignalled = this.#signalGroup(signal);
    void processEntries().then((entries) => {
      for (const { pid, startTicks, group } of this.#members(entries)) {
        // The group has got the signal already, and a program may count its signals.
        if (group !== this.#leader || !isGroupSignalled) signalProcess(pid, startTicks, signal);
      }
    });
  }

  /**
   * To be called when the program has exited. From then on its pid, which is the number of its group, can be used again
   * as soon as the group is empty; where /proc lists the members, they are signalled one by one instead.
   */
  leaderExited(): void {
    this.#isGroupSafe = !hasProc;
  }

  /** Whether all processes have ended within this time. */
  async isGoneWithin(ms: number): Promise<boolean> {
    const end = systemClock.monotonic() + ms;
    for (;;) {
      if (this.#members(await processEntries()).length === 0 && (hasProc || !this.#signalGroup(0))) return true;
      if (systemClock.monotonic() >= end) return false;
      await systemClock.sleep(recordFirstMs);
    }
  }

  /** Kills all processes that are found, and searches until none is left; returns the pids that it could not end. */
  async end(): Promise<readonly number[]> {
    this.#signalGroup('SIGKILL');
    this.leaderExited();
    let left: readonly ProcessEntry[] = [];
    for (let searches = 0; searches < searchMax; searches++) {
      left = this.#members(await processEntries());
      if (left.length === 0) break;
      for (const { pid, startTicks } of left) signalProcess(pid, startTicks, 'SIGKILL');
      await systemClock.sleep(searchMs);
    }
    removeLive(this);
    return left.map(({ pid }) => pid);
  }

  /** The same for a process that is about to exit. */
  endNow(): void {
    this.#signalGroup('SIGKILL');
    for (let searches = 0; searches < searchMax; searches++) {
      const left = this.#members(processEntriesNow());
      if (left.length === 0) return;
      for (const { pid, startTicks } of left) signalProcess(pid, startTicks, 'SIGKILL');
    }
  }

  record(entries: readonly ProcessEntry[]): void {
    this.#members(entries, false);
  }

  #members(entries: readonly ProcessEntry[], withMark = true): ProcessEntry[] {
    const members = new Map<number, ProcessEntry>();
    const known = this.#stillKnown(entries);
    const isMember = ({ pid, parent, group, session, startTicks }: ProcessEntry): boolean =>
      known.get(pid) === startTicks || members.has(parent) || known.has(group) || known.has(session);
    const add = (entry: ProcessEntry): void => {
      members.set(entry.pid, entry);
      known.set(entry.pid, entry.startTicks);
    };
    // A process that is older than the program was not started by it.
    const rest = new Set(entries.filter(({ pid, startTicks }) => pid !== process.pid && startTicks >= this.#startTicks));
    const addAll = (isOne: (entry: ProcessEntry) => boolean): boolean => {
      const found = [...rest].filter(isOne);
      for (const entry of found) {
        add(entry);
        rest.delete(entry);
      }
      return found.length > 0;
    };
    const addDescendants = (): void => {
      while (addAll(isMember));
    };
    addDescendants();
    if (withMark && addAll(({ pid }) => hasInEnvironment(pid, this.#mark))) addDescendants();
    this.#known = known;
    return [...members.values()];
  }

  /** Without pids that were reused: a pid stays reserved while its group or session has a member. */
  #stillKnown(entries: readonly ProcessEntry[]): Map<number, number> {
    const used = new Set(entries.flatMap(({ group, session }) => [group, session]));
    const starts = new Map(entries.map(({ pid, startTicks }) => [pid, startTicks]));
    return new Map([...this.#known].filter(([pid, startTicks]) =>
      starts.has(pid) ? starts.get(pid) === startTicks : used.has(pid)));
  }

  /** False: the group is empty. */
  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (!this.#isGroupSafe) return false;
    try {
      return process.kill(hasGroups ? -this.#leader : this.#leader, signal);
    } catch {
      return false;
    }
  }
}

/** A pid can be reused between the search and the signal; reading its start time once more makes that unlikely. */
function signalProcess(pid: number, startTicks: number, signal: NodeJS.Signals): void {
  if (processEntry(pid)?.startTicks !== startTicks) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or it belongs to another user.
  }
}

const live = new Set<ProcessTree>();
let recording = { at: Infinity, stop: (): void => {} };

function addLive(tree: ProcessTree): void {
  if (live.size === 0) process.on('exit', endAllNow);
  live.add(tree);
  // Programs that start one after the other must not postpone the recording again and again.
  if (recording.at > systemClock.monotonic() + recordFirstMs) recordAfter(recordFirstMs);
}

function removeLive(tree: ProcessTree): void {
  live.delete(tree);
  if (live.size > 0) return;
  recording.stop();
  recording.at = Infinity;
  process.off('exit', endAllNow);
}

/** One list of processes serves all running programs. */
function recordAfter(ms: number): void {
  recording.stop();
  const mine = { at: systemClock.monotonic() + ms, stop: systemClock.after(ms, () => void record()) };
  const record = async (): Promise<void> => {
    const entries = await processEntries();
    for (const tree of live) tree.record(entries);
    if (recording === mine && live.size > 0) recordAfter(Math.min(2 * ms, recordMaxMs));
  };
  recording = mine;
}

/** Runs also after process.exit() and an uncaught exception; not after SIGKILL. */
function endAllNow(): void {
  for (const tree of live) tree.endNow();
}
