/**
 * The stored series: the state of the time series, the last successes of definitions, and the feed cursor up to which both
 * count. It is stored as a job of kind `audit`. One server at a time stores it; every server that starts continues from it.
 */
import { closeRecord } from '../../jobs/audit.ts';
import { newJobs } from '../../jobs/new-jobs.ts';
import type { Jobs } from '../../jobs.ts';
import { insert, remove } from '../../apply.ts';
import { parseJson } from '../../model/json.ts';
import type { LastSuccess } from './definition-metrics.ts';
import type { SeriesState } from './time-series.ts';

export interface StoredSeries extends SeriesState {
  readonly cursor: string;
  /** Absent: an older version stored the series. */
  readonly lastSuccesses?: readonly LastSuccess[];
}

const seriesTypeName = 'stint.series';
const retentionMs = 100 * 86_400_000;
const storedMax = 100;

/** Returns the newest stored series; null: none is stored, or another version of Stint stored it in another format. */
export async function loadSeries(jobs: Jobs): Promise<StoredSeries | null> {
  const [newest] = (await jobs.find(records, { order: 'newest', limit: 1 })).jobs;
  if (newest === undefined) return null;
  const stored = parseJson(newest.input) as unknown as StoredSeries;
  return typeof stored.cursor === 'string' && Array.isArray(stored.types) ? stored : null;
}

/** Stores the series and deletes the previous ones. */
export async function storeSeries(jobs: Jobs, series: StoredSeries, by: string): Promise<void> {
  const former = (await jobs.find(records, { order: 'newest', limit: storedMax })).jobs;
  const draft = { kind: 'audit', type: seriesTypeName, input: series, policy: { retentionMs } } as const;
  const [record] = await newJobs(jobs, [draft], by);
  await insert(jobs.store, [record!]);
  await closeRecord(jobs, record!, { by });
  await remove(jobs.store, former.filter(({ state }) => state === 'ended'));
}

const records = { kinds: ['audit'], types: [seriesTypeName] } as const;
