/** What a PostgreSQL on this machine has used of the CPU, as Linux tells it; elsewhere nothing is known. */
import { readFileSync } from 'node:fs';

/** The unit of /proc, the same on every Linux. */
const tickUs = 10_000;

/** The process that started this backend; null: it cannot be seen from here. */
export function postmasterOf(backend: number): number | null {
  const stat = statOf(backend);
  return stat?.name === 'postgres' && statOf(stat.parent)?.name === 'postgres' ? stat.parent : null;
}

/** Of the postmaster, those of its children that live and those that have ended. */
export function cpuUsOfServer(postmaster: number): number | null {
  const own = statOf(postmaster);
  const children = childrenOf(postmaster);
  if (!own || !children) return null;
  const ticksOfLiving = children.reduce((sum, child) => sum + (statOf(child)?.ticks ?? 0), 0);
  return (own.ticks + own.ticksOfEnded + ticksOfLiving) * tickUs;
}

interface Stat {
  readonly name: string;
  readonly parent: number;
  readonly ticks: number;
  readonly ticksOfEnded: number;
}

/** See proc_pid_stat(5). The name stands in brackets and may itself hold spaces and brackets. */
function statOf(pid: number): Stat | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const end = text.lastIndexOf(')');
  const [, parent, ...rest] = text.slice(end + 2).split(' ');
  const [user, system, userOfEnded, systemOfEnded] = rest.slice(9, 13).map(Number);
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    parent: Number(parent),
    ticks: user! + system!,
    ticksOfEnded: userOfEnded! + systemOfEnded!,
  };
}

function childrenOf(pid: number): number[] | undefined {
  return read(`/proc/${pid}/task/${pid}/children`)?.split(' ').filter((text) => text !== '').map(Number);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
