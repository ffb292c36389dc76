/**
 * The versions of a job type's payload: which versions its code knows, and how a payload of an older version is
 * upgraded, step by step, to the current one.
 */
import { checkWhole } from '../../jobs/checks/values.ts';
import { firstTypeVersion, typeVersionMax, type TypeVersions } from '../../model/type-version.ts';
import { Refusal } from '../../refusal.ts';
import { isPromiseLike } from '../../time/maybe-promise.ts';

/** Functions by version: each turns an input of that version into one of the next version. */
// oxlint-disable-next-line typescript/no-explicit-any -- the format of old versions is known only to the function
export type Upgrade = Readonly<Record<number, (old: any) => unknown>>;

/** What of a job type concerns its versions. */
interface Versioned {
  readonly name: string;
  readonly options: VersionOptions;
}

interface VersionOptions {
  readonly version?: number;
  readonly upgrade?: Upgrade;
}

export const currentVersion = ({ version = firstTypeVersion }: VersionOptions): number => version;

/** Returns the versions that the code of a type knows: from the oldest that it can upgrade to its own. */
export function knownVersions({ name, options }: Versioned): TypeVersions {
  const to = currentVersion(options);
  return { type: name, from: Math.min(to, ...upgradeSteps(options)), to };
}

const upgradeSteps = ({ upgrade = {} }: VersionOptions): number[] => Object.keys(upgrade).map(Number);

/** Returns an input in the format of the current version of its type. */
export function upgraded(type: Versioned, input: unknown, version: number): unknown {
  const { from, to } = knownVersions(type);
  if (version < from || version > to) throw unknownVersion(type, version);
  let current = input;
  for (let step = version; step < to; step += 1) current = upgradeBy(type, step, current);
  return current;
}

function upgradeBy({ name, options }: Versioned, step: number, input: unknown): unknown {
  let next: unknown;
  try {
    next = options.upgrade![step]!(input);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    const message = `cannot upgrade the input from version ${step} of ${name}: ${cause}`;
    throw new Refusal('malformed.input', message, { type: name, version: step });
  }
  if (!isPromiseLike(next)) return next;
  const message = `the upgrade from version ${step} of ${name} returned a promise: it must be synchronous`;
  throw new Refusal('malformed.input', message, { type: name, version: step });
}

function unknownVersion(type: Versioned, version: number): Refusal {
  const { name } = type;
  const message = `this code of ${name} does not know version ${version} of its input: add upgrade[${version}]`;
  return new Refusal('malformed.input', message, { ...knownVersions(type), version });
}

/** Checks `version` and `upgrade` of a type. */
export function checkUpgrade(name: string, options: VersionOptions): void {
  const { version, upgrade } = options;
  if (version !== undefined) checkWhole('version', version, firstTypeVersion, typeVersionMax);
  if (upgrade === undefined) return;
  const refuse = (message: string): never => {
    throw new Refusal('malformed.option', `${message} of job type ${name}`, { type: name });
  };
  if (typeof upgrade !== 'object' || upgrade === null || Array.isArray(upgrade)) return refuse('pass upgrade as functions by version: upgrade');
  const to = currentVersion(options);
  const isOlder = (step: number): boolean => Number.isSafeInteger(step) && step >= firstTypeVersion && step < to;
  const wrong = Object.keys(upgrade).find((key) => !isOlder(Number(key)));
  if (wrong !== undefined && to === firstTypeVersion) refuse(`add version: ${firstTypeVersion + 1} to the upgrade`);
  if (wrong !== undefined) {
    refuse(`upgrade can have the versions from ${firstTypeVersion} to ${to - 1}, not ${wrong}: upgrade`);
  }
  const steps = upgradeSteps(options).sort((a, b) => a - b);
  for (const [index, step] of steps.entries()) {
    const expected = to - steps.length + index;
    if (step !== expected) refuse(`add upgrade[${expected}], so that each older version leads to version ${to}: upgrade`);
    if (typeof (upgrade as Record<number, unknown>)[step] !== 'function') refuse(`upgrade[${step}] must be a function: upgrade`);
  }
}
