/** The processes of this machine, as /proc of Linux lists them. On other systems the list is empty. */
import { readdirSync, readFileSync } from 'node:fs';
import { turn } from '../time/clock.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. Together with the pid it identifies a process: pids are reused. */
  readonly startTicks: number;
}

export const hasProc = process.platform === 'linux';
/** Between two turns of the event loop: an entry takes about 50 µs, measured with 200 processes. */
const entriesPerTurn = 20;

let current: Promise<unknown> = Promise.resolve();
let next: Promise<readonly ProcessEntry[]> | null = null;

/** A list that is begun after the call. One is made at a time; calls that come meanwhile share the next. */
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

/** The same without a turn of the event loop, for a process that is about to exit. */
export const processEntriesNow = (): readonly ProcessEntry[] => pids().flatMap((pid) => processEntry(pid) ?? []);

/** Null: there is no such process, or it has exited and its parent has not collected it. */
export function processEntry(pid: number): ProcessEntry | null {
  const text = readProc(`${pid}/stat`)?.toString('latin1');
  if (text === undefined) return null;
  // The name of the program is in parentheses and can contain any character, including parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === undefined || state === 'Z' || state === 'X') return null;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTicks: Number(fields[19]) };
}

/** Whether the initial environment of the process contains the text. Only the owner can read it. */
export const hasInEnvironment = (pid: number, text: string): boolean => readProc(`${pid}/environ`)?.includes(text) ?? false;

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
