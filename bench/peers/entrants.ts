/** All entrants, ours first. */
import { bullmqPostgres, bullmqRedis } from './entrants/bullmq.ts';
import { bunqueue } from './entrants/bunqueue.ts';
import { dbos } from './entrants/dbos.ts';
import { graphileBatched, graphilePlain } from './entrants/graphile-worker.ts';
import { pgBoss } from './entrants/pg-boss.ts';
import { plainjob } from './entrants/plainjob.ts';
import { stintEngineOn } from './entrants/stint-engine.ts';
import { stintStoreOn } from './entrants/stint-store.ts';
import type { Entrant } from './entrant.ts';

export const entrants: readonly Entrant[] = [
  stintEngineOn('postgres'), stintStoreOn('postgres'), graphilePlain, graphileBatched, pgBoss, bullmqPostgres, dbos,
  stintEngineOn('sqlite'), stintStoreOn('sqlite'), plainjob, bunqueue,
  bullmqRedis,
];

export function entrantNamed(name: string): Entrant {
  const entrant = entrants.find((each) => each.name === name);
  if (!entrant) throw new Error(`nobody is called ${name}`);
  return entrant;
}
