/** A schedule while it is edited: text for each of its parts, converted from and to the API. */
import type { DefView, ScheduleRequest } from '../../../../src/http/contract.ts';

export type ScheduleKind = 'cron' | 'every' | 'repeat' | 'at';
type StoredSchedule = DefView['schedules'][number]['schedule'];

type Cron = Pick<ScheduleDraft, 'text' | 'zone'> & {
  readonly gap?: 'next' | 'shift' | 'skip';
  readonly overlap?: 'first' | 'last' | 'both';
};
/** The fields of each kind of stored schedule. The contract has no type for them. */
type KnownSchedule = { readonly spreadMs?: number } & (
  | ({ readonly kind: 'cron' } & Cron)
  | { readonly kind: 'every'; readonly everyMs: number; readonly from: ScheduleDraft['from'] }
  | { readonly kind: 'repeat'; readonly text: string }
  | { readonly kind: 'at'; readonly at: number }
);

export interface ScheduleDraft {
  readonly kind: ScheduleKind;
  readonly text: string;
  readonly zone: string;
  readonly gap: '' | 'next' | 'shift' | 'skip';
  readonly overlap: '' | 'first' | 'last' | 'both';
  readonly from: 'scheduled' | 'started' | 'finished';
  readonly spread: string;
  /**
   * The stored schedule. If the draft was not changed, the stored form is sent back, so that its planned tick stays.
   */
  readonly origin: StoredSchedule | null;
}

export const newDraft: ScheduleDraft = {
  kind: 'cron', text: '0 6 * * *', zone: 'UTC', gap: '', overlap: '', from: 'scheduled', spread: '', origin: null,
};

export function draftOf(origin: StoredSchedule): ScheduleDraft {
  const schedule = origin as unknown as KnownSchedule;
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

/** Converts a draft to the form that the API takes. */
export function scheduleOf(draft: ScheduleDraft): ScheduleRequest {
  const { kind, text, zone, gap, overlap, from, spread, origin } = draft;
  if (origin !== null && JSON.stringify(draftOf(origin)) === JSON.stringify(draft)) return origin;
  const jitter = spread.trim() === '' ? {} : { spread: spread.trim() };
  switch (kind) {
    case 'cron': {
      const policies = { ...(gap === '' ? {} : { gap }), ...(overlap === '' ? {} : { overlap }) };
      return { cron: text, ...(zone.trim() === '' ? {} : { zone: zone.trim() }), ...policies, ...jitter };
    }
    case 'every':
      return { every: text.trim(), from, ...jitter };
    case 'repeat':
      return { repeat: text };
    case 'at':
      return { at: text.trim() };
  }
}

const units = [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1_000]] as const;

/** Formats a duration as it is written in code, such as `15m`. */
export function durationText(ms: number): string {
  const unit = units.find(([, size]) => ms >= size && ms % size === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`;
}
