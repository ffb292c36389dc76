/**
 * The ids of records: types, builds and named limits, which are stored as jobs that nobody claims. Each id is a hash of
 * the name, so that the record is read without a search. These ids are above the ids of all other stored jobs.
 */
import { createHash } from 'node:crypto';
import type { Kind } from '../model/state.ts';

/** The lowest id of records. Their highest id is below `firstMemoryId` (2 ** 52), the lowest id of in-memory jobs. */
export const firstRecordId = 2 ** 51;

export type RecordKind = Extract<Kind, 'type' | 'build' | 'limit'>;

/**
 * Returns the id of a record: 51 bits of a hash of its name. With 10,000 names, the probability that two get the same
 * id is 1 in 40 million.
 */
export const recordId = (kind: RecordKind, name: string): number =>
  firstRecordId + Number(digestOf(`${kind} ${name}`).readBigUInt64BE() >> 13n);

export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
