/** A backlog: jobs that should not slow down a claim. They have other names, are due later, or have ended. */
import type { Fixture } from './fixture.ts';
import { drafts, ownType } from './payload.ts';

export type BacklogKind = 'others' | 'later' | 'ended';
export type Backlog = Readonly<Record<BacklogKind, number>>;

export const noBacklog: Backlog = { others: 0, later: 0, ended: 0 };

const yearMs = 365 * 24 * 3_600_000;

/** Creates one job through the target, and copies its row `count` times in SQL. */
export async function addBacklog(fixture: Fixture, kind: BacklogKind, count: number, names = 100): Promise<void> {
  const { target, scratch } = fixture;
  const sample = `sample.${kind}`;
  const due = kind === 'later' ? { due: Date.now() + yearMs } : {};
  await target.create(drafts(1, sample).map((draft) => ({ ...draft, ...due })));
  if (kind === 'ended') await target.finish(await target.claim({ exact: [sample] }, 1));
  const table = kind === 'ended' && scratch.address.side === 'ours' ? 'ended' : 'job';
  const types = kind === 'others' ? Array.from({ length: names }, (_, index) => `other.${index}`) : [ownType];
  await scratch.copyRows({ table, sample, count, first: await target.reserve(count), types });
}

export function titleOf(backlog: Backlog): string {
  const present = Object.entries(backlog).filter(([, count]) => count > 0);
  const parts = present.map(([kind, count]) => `${short(count)} ${kind}`);
  return parts.length === 0 ? 'empty store' : parts.join(' + ');
}

export const short = (count: number): string =>
  count >= 1_000_000 ? `${count / 1_000_000} M` : count >= 1_000 ? `${count / 1_000} k` : String(count);
