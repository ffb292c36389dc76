/** A schedule as it is being written: text for each of its parts, from and to what the API says. */
import type { DefView, ScheduleRequest } from '../../../../src/http/contract.ts';

export type Kind = 'cron' | 'every' | 'repeat' | 'at';
type Stored = DefView['schedules'][number]['schedule'];

type Cron = Pick<ScheduleDraft, 'text' | 'zone'> & {
  readonly gap?: 'next' | 'shift' | 'skip';
  readonly overlap?: 'first' | 'last' | 'both';
};
/** What each kind tells; the contract leaves it open. */
type Known = { readonly spreadMs?: number } & (
  | ({ readonly kind: 'cron' } & Cron)
  | { readonly kind: 'every'; readonly everyMs: number; readonly from: ScheduleDraft['from'] }
  | { readonly kind: 'repeat'; readonly text: string }
  | { readonly kind: 'at'; readonly at: number }
);

export interface ScheduleDraft {
  readonly kind: Kind;
  readonly text: string;
  readonly zone: string;
  readonly gap: '' | 'next' | 'shift' | 'skip';
  readonly overlap: '' | 'first' | 'last' | 'both';
  readonly from: 'scheduled' | 'started' | 'finished';
  readonly spread: string;
  /** As it was stored: unless it is changed it keeps its place. */
  readonly origin: Stored | null;
}

export const newDraft: ScheduleDraft = {
  kind: 'cron', text: '0 6 * * *', zone: 'UTC', gap: '', overlap: '', from: 'scheduled', spread: '', origin: null,
};

export function draftOf(origin: Stored): ScheduleDraft {
  const schedule = origin as unknown as Known;
  const spread = schedule.spreadMs === undefined ? '' : durationText(schedule.spreadMs);
  const base = { ...newDraft, kind: schedule.kind, spread, origin };
  switch (schedule.kind) {
    case 'cron': {
      const { text, zone, gap = '', overlap = '' } = schedule;
      return { ...base, text, zone, gap, overlap };
    }
    case 'every':
      return { ...base, text: durationText(schedule.everyMs), from: schedule.from };
    case 'repeat':
      return { ...base, text: schedule.text };
    case 'at':
      return { ...base, text: new Date(schedule.at).toISOString() };
  }
}

export function askOf(draft: ScheduleDraft): ScheduleRequest {
  const { kind, text, zone, gap, overlap, from, spread, origin } = draft;
  if (origin !== null && JSON.stringify(draftOf(origin)) === JSON.stringify(draft)) return origin;
  const spreading = spread.trim() === '' ? {} : { spread: spread.trim() };
  switch (kind) {
    case 'cron': {
      const policies = { ...(gap === '' ? {} : { gap }), ...(overlap === '' ? {} : { overlap }) };
      return { cron: text, ...(zone.trim() === '' ? {} : { zone: zone.trim() }), ...policies, ...spreading };
    }
    case 'every':
      return { every: text.trim(), from, ...spreading };
    case 'repeat':
      return { repeat: text };
    case 'at':
      return { at: text.trim() };
  }
}

const units = [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1_000]] as const;

/** `15m`: as people write a duration. */
export function durationText(ms: number): string {
  const unit = units.find(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`;
}
