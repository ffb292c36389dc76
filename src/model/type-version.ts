/**
 * The version of a job type: the number of the format of its payloads. A job has the version of the type that it was
 * created with, and an instance claims only jobs of versions that its code knows.
 */

/** The version of types that state none, and of all jobs that were created before types had versions. */
export const firstTypeVersion = 1;
export const typeVersionMax = 1_000_000;

/** The versions of a type that a worker knows: all from `from` to `to`. */
export interface TypeVersions {
  readonly type: string;
  readonly from: number;
  readonly to: number;
}

/** Whether a worker with these versions knows the payload. Of a type that is not listed, it knows the first version. */
export function knowsVersion(known: readonly TypeVersions[], type: string, version: number): boolean {
  const { from, to } = versionsOf(known, type);
  return version >= from && version <= to;
}

export const versionsOf = (known: readonly TypeVersions[], type: string): TypeVersions =>
  known.find((versions) => versions.type === type) ?? { type, from: firstTypeVersion, to: firstTypeVersion };

/** A type with one of its versions: what claims search for. */
export interface VersionedType {
  readonly type: string;
  readonly typeVersion: number;
}

/** Returns each of the types with each version that the worker knows of it. */
export function versionedTypes(types: readonly string[], known: readonly TypeVersions[] = []): VersionedType[] {
  const byType = new Map(known.toReversed().map((versions) => [versions.type, versions]));
  return [...new Set(types)].flatMap((type) => {
    const { from, to } = byType.get(type) ?? { from: firstTypeVersion, to: firstTypeVersion };
    return Array.from({ length: to - from + 1 }, (_, index) => ({ type, typeVersion: from + index }));
  });
}
