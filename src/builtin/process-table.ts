/** The processes of this machine, read from /proc on Linux. On other systems the list is empty. */
import { readdirSync, readFileSync } from 'node:fs';
import { turn } from '../time/clock.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When the process started, in clock ticks since boot. Distinguishes it from a later process with the same pid. */
  readonly startTicks: number;
}

export const hasProc = process.platform === 'linux';
/**
 * How many entries are read in one turn of the event loop, so that a turn is blocked for about 1 ms: an entry takes
 * about 50 µs, measured with 200 processes.
 */
const entriesPerTurn = 20;

let current: Promise<unknown> = Promise.resolve();
let next: Promise<readonly ProcessEntry[]> | null = null;

/**
 * Lists all processes as they are after the call. Only one list is read at a time. Calls made while a list is being
 * read do not get that list: they share the next one, which is read after it.
 */
export function processEntries(): Promise<readonly ProcessEntry[]> {
  next ??= current.then(() => {
    const entries = listProcesses();
    current = entries;
    next = null;
    return entries;
  });
  return next;
}

async function listProcesses(): Promise<readonly ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  for (const [index, pid] of pids().entries()) {
    const entry = processEntry(pid);
    if (entry !== null) entries.push(entry);
    if (index % entriesPerTurn === entriesPerTurn - 1) await turn();
  }
  return entries;
}

/** Lists all processes synchronously, for use while this process exits. */
export const processEntriesNow = (): readonly ProcessEntry[] => pids().flatMap((pid) => processEntry(pid) ?? []);

/** Returns the entry of a process; null: no process has this pid, or the process has exited (a zombie). */
export function processEntry(pid: number): ProcessEntry | null {
  const text = readProc(`${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  // The name of the program is in parentheses and can contain any character, including parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === undefined || state === 'Z' || state === 'X') return null;
  return {
    pid, parent: Number(parent), group: Number(group), session: Number(session), startTicks: Number(fields[19]),
  };
}

/** Whether the process was started with the text in its environment; false if the environment cannot be read. */
export const hasInEnvironment = (pid: number, text: string): boolean =>
  readProc(`${pid}/environ`)?.includes(text) ?? false;

function pids(): number[] {
  if (!hasProc) return [];
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return [];
  }
}

function readProc(path: string): Buffer | undefined {
  if (!hasProc) return undefined;
  try {
    return readFileSync(`/proc/${path}`);
  } catch {
    return undefined;
  }
}
