/** The versions of a job type: which wait, which instances know them, and whether old instances can be stopped. */
import type { EngineCore } from '../engine/engine.ts';
import { workKinds } from '../model/state.ts';
import { versionOfEntry, type TypeEntry } from '../model/type-entry.ts';
import { firstTypeVersion, knowsVersion, versionsOf } from '../model/type-version.ts';
import type { Instance } from '../store/store.ts';
import type { TypeDetail } from './contract.ts';

/** How many running and held jobs are read. If there are more, it is not known whether old instances can be stopped. */
const openMax = 1_000;

type VersionFields = Pick<TypeDetail, 'version' | 'versions' | 'oldInstances' | 'isSafeToStopOld'>;

/** Returns the versions of a type; `having` are the live instances with it. */
export async function versionsOfType(
  engine: EngineCore,
  name: string,
  entry: TypeEntry | null,
  having: readonly Instance[],
): Promise<VersionFields> {
  const waiting = await engine.jobs.store.waitingVersions([name]);
  const newest = Math.max(firstTypeVersion, ...having.map((instance) => ownVersion(instance, name)));
  const old = having.filter((instance) => ownVersion(instance, name) < newest);
  const others = having.filter((instance) => !old.includes(instance));
  const known = new Set([...waiting.map(({ typeVersion }) => typeVersion), ...having.map((one) => ownVersion(one, name))]);
  return {
    version: versionOfEntry(entry ?? {}),
    versions: [...known].sort((a, b) => a - b).map((version) => ({
      version,
      waiting: waiting.find(({ typeVersion }) => typeVersion === version)?.count ?? 0,
      instances: having.filter((instance) => knows(instance, name, version)).map(({ id }) => id),
    })),
    oldInstances: old.map(({ id }) => id),
    isSafeToStopOld: old.length > 0 && (await doAllKnow(engine, name, others, waiting.map(({ typeVersion }) => typeVersion))),
  };
}

const ownVersion = ({ about }: Instance, type: string): number => versionsOf(about.versions ?? [], type).to;

const knows = ({ about }: Instance, type: string, version: number): boolean =>
  knowsVersion(about.versions ?? [], type, version);

/**
 * Whether each of the instances knows the versions of all open jobs of the type, and of the parameters of its
 * definitions, which make new runs.
 */
async function doAllKnow(
  engine: EngineCore,
  type: string,
  instances: readonly Instance[],
  waiting: readonly number[],
): Promise<boolean> {
  const query = { kinds: workKinds, types: [type], standings: ['running', 'held'] } as const;
  const { jobs, next } = await engine.find(query, { limit: openMax });
  const defs = (await engine.definitions({ type })).filter(({ spec }) => spec.params !== null || spec.schedules.length > 0);
  const versions = new Set([...waiting, ...[...jobs, ...defs.map(({ spec }) => spec)].map(versionOf)]);
  return next === null && instances.every((one) => [...versions].every((version) => knows(one, type, version)));
}

const versionOf = ({ typeVersion = firstTypeVersion }: { readonly typeVersion?: number }): number => typeVersion;
