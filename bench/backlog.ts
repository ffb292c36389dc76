/** A backlog: jobs that a claim must not feel, since they have other names, are due later, or have ended. */
import { drafts, ownType } from './payload.ts';
import type { Stand } from './stand.ts';

export type Matter = 'others' | 'later' | 'ended';
export type Backlog = Readonly<Record<Matter, number>>;

export const noBacklog: Backlog = { others: 0, later: 0, ended: 0 };

const yearMs = 365 * 24 * 3_600_000;

/** Makes one such job by the door, and copies its row as often as it takes. */
export async function addBacklog(stand: Stand, matter: Matter, count: number, names = 100): Promise<void> {
  const { contender, ground } = stand;
  const sample = `sample.${matter}`;
  const due = matter === 'later' ? { due: Date.now() + yearMs } : {};
  await contender.create(drafts(1, sample).map((draft) => ({ ...draft, ...due })));
  if (matter === 'ended') await contender.finish(await contender.claim({ exact: [sample] }, 1));
  const table = matter === 'ended' && ground.place.side === 'ours' ? 'ended' : 'job';
  const types = matter === 'others' ? Array.from({ length: names }, (_, index) => `other.${index}`) : [ownType];
  await ground.fill({ table, sample, count, first: await contender.reserve(count), types });
}

export function titleOf(backlog: Backlog): string {
  const present = Object.entries(backlog).filter(([, count]) => count > 0);
  const parts = present.map(([matter, count]) => `${short(count)} ${matter}`);
  return parts.length === 0 ? 'empty store' : parts.join(' + ');
}

export const short = (count: number): string =>
  count >= 1_000_000 ? `${count / 1_000_000} M` : count >= 1_000 ? `${count / 1_000} k` : String(count);
