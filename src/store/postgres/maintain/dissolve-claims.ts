/**
 * Dissolves claims of which few jobs still run: gives these jobs rows of their own, and deletes the claim. Whoever reads
 * the jobs of a claim reads all its ids, so one job that runs for a day would keep a thousand ids in each list, and in
 * each count of a gate.
 */
import type { Job } from '../../../model/job.ts';
import type { Database, Session, Transaction } from '../sql/database.ts';
import { claimedSql, jobOfClaimed, type ClaimedRow } from '../read/claimed.ts';
import { leaveClaims } from './leave-claim.ts';

/** A claim is dissolved if it has at least this many ids for each job that still runs. */
const idsPerJob = 32;
/** How many claims a call dissolves at most. */
const claimsMax = 100;

export async function dissolveClaims(database: Database): Promise<void> {
  const sparse = `select id from ${database.schema}.claim
    where remaining * ${idsPerJob} <= cardinality(ids) limit ${claimsMax}`;
  const claims = await database.run<{ id: number }>(sparse);
  for (const { id } of claims) await database.transaction((transaction) => dissolve(transaction, id));
}

/** Leaves a claim alone that another transaction has locked. */
async function dissolve(transaction: Transaction, claim: number): Promise<void> {
  if (await lock(transaction, claim)) await leaveClaims(transaction, await jobsOf(transaction, claim));
}

/** Locks the claim; returns false if another transaction has locked it. */
async function lock(session: Session, claim: number): Promise<boolean> {
  const text = `select 1 from ${session.schema}.claim where id = $1 for update skip locked`;
  return (await session.run(text, [claim])).length > 0;
}

async function jobsOf(session: Session, claim: number): Promise<Job[]> {
  const rows = await session.run<ClaimedRow>(claimedSql(session.schema, { where: 'claim.id = $1' }), [claim]);
  return rows.map((row) => jobOfClaimed(session, row));
}
