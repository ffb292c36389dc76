/** `stint/store`: the store interface with its types, and the built-in stores; for authors of other stores. */
export { openStore } from './store.ts';
export { storeUrl } from './store-url.ts';
export { MemoryStore } from '../store/memory/store.ts';
export { SqliteStore, type SqliteOptions } from '../store/sqlite/store.ts';
export { PostgresStore, type PostgresOptions } from '../store/postgres/store.ts';
export type {
  Batch, Beat, BeatReply, Bloat, Candidate, Cell, ClaimRequest, ClaimDecision, FeedPage, FeedEvent, Holding, Inspection,
  InspectionLimits, Instance, InstanceAbout, Leadership, LogLine, Migration, TypeNames, Note, Pool, Store, StoreHealth,
  Writer,
} from '../store/store.ts';
export { queuePositionMax } from '../store/store.ts';
export {
  matchesQuery, pageLimitMax, standingOf, standings, type Page, type PageRequest, type Query, type Standing, type Tally,
} from '../store/query.ts';
export { scanIds, type IdScan, type IdRange, type IdScanRequest } from '../store/id-scan.ts';
export type { Change } from '../model/change.ts';
export type { Event } from '../model/event.ts';
export type { Job } from '../model/job.ts';
export type { Clock } from '../time/clock.ts';
