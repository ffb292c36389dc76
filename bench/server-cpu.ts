/** CPU time of a server on this machine, read from /proc. Only Linux has it. */
import { readFileSync } from 'node:fs';

/** One clock tick of /proc: 1/100 s on every Linux. */
const tickUs = 10_000;

/** The pid of the postmaster of a backend; null if /proc does not show it. */
export function postmasterOf(backend: number): number | null {
  const stat = statOf(backend);
  return stat?.name === 'postgres' && statOf(stat.parent)?.name === 'postgres' ? stat.parent : null;
}

/** CPU time of the main process, its living children and its ended children. */
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

/** See proc_pid_stat(5). The name is in brackets, and can contain spaces and brackets itself. */
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
