/**
 * Ends a program together with the processes that it started. The program's process group is signalled; on Windows,
 * only the program itself. On Linux, descendants outside the group are found, too: by the chain of parents, recorded
 * while the program runs, and by a mark in their environment. On Linux, a descendant escapes only if all of this is
 * true: its parent exited before the descendant was recorded, it left the group and session, and it cleared its
 * environment. Only a cgroup or a PID namespace would prevent that.
 */
import { systemClock } from '../time/clock.ts';
import {
  hasInEnvironment, hasProc, processEntries, processEntriesNow, processEntry, type ProcessEntry,
} from './process-table.ts';

/** Descendants are recorded at an interval that doubles from `recordFirstMs` to `recordMaxMs`. */
const recordFirstMs = 50;
const recordMaxMs = 1_000;
/** The wait between two searches for remaining processes. */
const searchMs = 10;
/** After this many searches, the processes that remain are reported as impossible to end. */
const searchMax = 100;
const hasGroups = process.platform !== 'win32';

export class ProcessTree {
  readonly #leader: number;
  readonly #mark: string;
  readonly #startTicks: number;
  /**
   * The start times of recorded processes, by pid. A process that has exited stays recorded while its pid is the
   * number of a group or session that has members.
   */
  #known = new Map<number, number>();
  /** Whether the number of the group certainly still belongs to this program's group. */
  #isGroupSafe = true;

  /** `mark` is a text in the program's environment that only its descendants inherit. */
  constructor(leader: number, mark: string) {
    this.#leader = leader;
    this.#mark = mark;
    this.#startTicks = processEntry(leader)?.startTicks ?? 0;
    this.#known.set(leader, this.#startTicks);
    addLive(this);
  }

  /** Signals the group at once. On Linux, signals descendants outside the group as soon as they are found. */
  signal(signal: NodeJS.Signals): void {
    const isGroupSignalled = this.#signalGroup(signal);
    void processEntries().then((entries) => {
      for (const { pid, startTicks, group } of this.#members(entries)) {
        // A member of the group has got the signal already; a program can react differently to a second SIGTERM.
        if (group !== this.#leader || !isGroupSignalled) signalProcess(pid, startTicks, signal);
      }
    });
  }

  /**
   * Must be called when the program has exited. Its pid is also the number of its group, and the system can reuse this
   * number when the group is empty. On Linux, members are therefore signalled one by one from now on.
   */
  leaderExited(): void {
    this.#isGroupSafe = !hasProc;
  }

  /** Waits until all processes have ended, at most `ms`; returns whether they have. */
  async isGoneWithin(ms: number): Promise<boolean> {
    const end = systemClock.monotonic() + ms;
    for (;;) {
      if (this.#members(await processEntries()).length === 0 && (hasProc || !this.#signalGroup(0))) return true;
      if (systemClock.monotonic() >= end) return false;
      await systemClock.sleep(recordFirstMs);
    }
  }

  /** Searches for processes and kills them until none is found. Returns the pids left after `searchMax` searches. */
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

  /** Kills the processes like `end`, but synchronously and without a wait, for use while this process exits. */
  endNow(): void {
    this.#signalGroup('SIGKILL');
    for (let searches = 0; searches < searchMax; searches++) {
      const left = this.#members(processEntriesNow());
      if (left.length === 0) return;
      for (const { pid, startTicks } of left) signalProcess(pid, startTicks, 'SIGKILL');
    }
  }

  /** Whether the process was recorded. */
  has(pid: number): boolean {
    return this.#known.has(pid);
  }

  /** Records the descendants, so that they are found even after their parents have exited. */
  record(entries: readonly ProcessEntry[]): void {
    this.#members(entries, false);
  }

  /**
   * Returns the processes of the tree, and records them. With `withMark`, also finds the processes that have the mark
   * in their environment, and their descendants.
   */
  #members(entries: readonly ProcessEntry[], withMark = true): ProcessEntry[] {
    const members = new Map<number, ProcessEntry>();
    const known = this.#stillKnown(entries);
    const isMember = ({ pid, parent, group, session, startTicks }: ProcessEntry): boolean =>
      known.get(pid) === startTicks || members.has(parent) || known.has(group) || known.has(session);
    const add = (entry: ProcessEntry): void => {
      members.set(entry.pid, entry);
      known.set(entry.pid, entry.startTicks);
    };
    // A process that is older than the program cannot be its descendant.
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

  /**
   * Returns the recorded processes without those whose pid another process may have by now. The system does not reuse
   * the pid of an exited process while a group or session with this number has a member.
   */
  #stillKnown(entries: readonly ProcessEntry[]): Map<number, number> {
    const used = new Set(entries.flatMap(({ group, session }) => [group, session]));
    const starts = new Map(entries.map(({ pid, startTicks }) => [pid, startTicks]));
    return new Map([...this.#known].filter(([pid, startTicks]) =>
      starts.has(pid) ? starts.get(pid) === startTicks : used.has(pid)));
  }

  /**
   * Signals the group (on Windows: the program). Returns false if the group is empty, or if another group may have its
   * number by now.
   */
  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (!this.#isGroupSafe) return false;
    try {
      return process.kill(hasGroups ? -this.#leader : this.#leader, signal);
    } catch {
      return false;
    }
  }
}

/**
 * Signals the process that had this pid and start time. The start time is read again just before the signal, because
 * another process can have got the pid after the search.
 */
function signalProcess(pid: number, startTicks: number, signal: NodeJS.Signals): void {
  if (processEntry(pid)?.startTicks !== startTicks) return;
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended, or it belongs to another user.
  }
}

const live = new Set<ProcessTree>();
let recording = { at: Infinity, stop: (): void => {} };

function addLive(tree: ProcessTree): void {
  if (live.size === 0) process.on('exit', endAllNow);
  live.add(tree);
  // Moves the next recording to an earlier time, never to a later one. If it could be moved to a later time, many
  // programs in quick succession would postpone it forever.
  if (recording.at > systemClock.monotonic() + recordFirstMs) recordAfter(recordFirstMs);
}

function removeLive(tree: ProcessTree): void {
  live.delete(tree);
  if (live.size > 0) return;
  recording.stop();
  recording.at = Infinity;
  process.off('exit', endAllNow);
}

/**
 * Records the descendants of all running programs after `ms`, then at doubling intervals. Each recording reads one list
 * of processes, and uses it for every program.
 */
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

/**
 * Kills all programs when this process exits, also by process.exit() or an uncaught exception. Node does not call this
 * function if a signal such as SIGKILL ends this process.
 */
function endAllNow(): void {
  for (const tree of live) tree.endNow();
}
