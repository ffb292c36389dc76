/**
 * The ids of records: types, builds, named limits and pauses, which are stored as jobs that nobody claims. Each id is a hash of
 * the name, so that the record is read without a search. These ids are above the ids of all other stored jobs.
 */
import { createHash } from 'node:crypto';
import { firstRecordId } from '../model/record-id.ts';
import type { Kind } from '../model/state.ts';

export type RecordKind = Extract<Kind, 'type' | 'build' | 'limit' | 'pause'>;

/**
 * Returns the id of a record: 51 bits of a hash of its name. With 10,000 names, the probability that two get the same
 * id is 1 in 40 million.
 */
export const recordId = (kind: RecordKind, name: string): number =>
  firstRecordId + Number(digestOf(`${kind} ${name}`).readBigUInt64BE() >> 13n);

export const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
