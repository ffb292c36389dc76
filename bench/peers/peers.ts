/** All peers, by database, Stint first. */
import { bullmqPostgres, bullmqRedis } from './peers/bullmq.ts';
import { bunqueue } from './peers/bunqueue.ts';
import { dbos } from './peers/dbos.ts';
import { graphileBatched, graphilePlain } from './peers/graphile-worker.ts';
import { pgBoss } from './peers/pg-boss.ts';
import { pgBossPolling, pgBossResolving } from './peers/pg-boss-flows.ts';
import { plainjob } from './peers/plainjob.ts';
import { stintBatches } from './peers/stint-batches.ts';
import { stintByPostgresLibrary, stintBySqliteDriver } from './peers/stint-by-library.ts';
import { stintEngineOn } from './peers/stint-engine.ts';
import { stintStoreOn } from './peers/stint-store.ts';
import type { Peer } from './peer.ts';

export const peers: readonly Peer[] = [
  stintEngineOn('postgres'), stintStoreOn('postgres'), stintBatches, graphilePlain, graphileBatched,
  pgBoss, pgBossPolling, pgBossResolving, bullmqPostgres, dbos,
  ...stintByPostgresLibrary,
  stintEngineOn('sqlite'), stintStoreOn('sqlite'), plainjob, bunqueue, ...stintBySqliteDriver,
  bullmqRedis,
];

export function peerNamed(name: string): Peer {
  const peer = peers.find((each) => each.name === name);
  if (!peer) throw new Error(`no peer has the name ${name}`);
  return peer;
}
