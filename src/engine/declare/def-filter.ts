/** The filter of definitions: by name, type, tags, last outcome, and whether they are enabled or declared. */
import { checkFields, checkList, checkName, checkOneOf, checkTags, checkText, checkTypeName, nameMax } from '../../jobs/checks/values.ts';
import { matches, parseGlob } from '../../model/glob.ts';
import type { Spec } from '../../model/definition.ts';
import type { OutcomeStatus } from '../../vocabulary/configuration.ts';

export type DefStatus = 'enabled' | 'disabled' | 'undeclared' | 'late';
export const defStatuses: readonly DefStatus[] = ['enabled', 'disabled', 'undeclared', 'late'];

/** How long after its time a tick that has not been handled makes its definition late. */
const lateMs = 60_000;

export const outcomes: readonly OutcomeStatus[] = ['COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED'];

export interface DefFilter {
  /** A GLOB pattern that the name matches. */
  readonly match?: string;
  /** Only these names. */
  readonly names?: readonly string[];
  /** A part of the name; upper and lower case are alike. */
  readonly q?: string;
  readonly type?: string;
  /** Tags that the definition has; all must match. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * `undeclared`: code has declared the definition before, and no living build declares it any more. `late`: its next tick
   * was due more than a minute ago.
   */
  readonly status?: DefStatus;
  /** How the run of the definition that ended last has ended; `NOT_STARTED`: none has ended. */
  readonly lastOutcome?: OutcomeStatus;
}

const namesMax = 1_000;

export interface FilteredDefinition {
  readonly name: string;
  readonly spec: Pick<Spec, 'type' | 'tags'>;
  readonly isEnabled: boolean;
  readonly nextDue: number | null;
  readonly build?: string;
}

/**
 * Returns whether a definition passes the filter as far as it can tell itself: its runs tell about `lastOutcome`, and the
 * living builds whether a definition of code is undeclared. Refuses an invalid filter.
 */
export function defFilter(filter: DefFilter, now: number): (def: FilteredDefinition) => boolean {
  const { match, names, q, type, tags, status, lastOutcome } = checkFields('a filter of definitions', filter, fieldNames);
  const glob = match === undefined ? null : parseGlob(match);
  const listed = names === undefined ? null : new Set(checkList('names', names, namesMax, (name) => checkName('definition name', name)));
  const part = q === undefined || q === '' ? '' : checkText('q', q, nameMax).toLowerCase();
  const wanted = Object.entries(tags === undefined ? {} : checkTags(tags));
  if (type !== undefined) checkTypeName(type);
  if (status !== undefined) checkOneOf('status', status, defStatuses);
  if (lastOutcome !== undefined) checkOneOf('lastOutcome', lastOutcome, outcomes);
  return (def) =>
    (glob === null || matches(glob, def.name)) &&
    (listed === null || listed.has(def.name)) &&
    def.name.toLowerCase().includes(part) &&
    (type === undefined || def.spec.type === type) &&
    wanted.every(([name, value]) => def.spec.tags?.[name] === value) &&
    (status === undefined || hasStatus(def, status, now));
}

const fieldNames = Object.keys(
  { match: 0, names: 0, q: 0, type: 0, tags: 0, status: 0, lastOutcome: 0 } satisfies Record<keyof DefFilter, 0>,
);

function hasStatus({ isEnabled, nextDue, build }: FilteredDefinition, status: DefStatus, now: number): boolean {
  if (status === 'undeclared') return build !== undefined;
  return status === 'late' ? nextDue !== null && now - nextDue > lateMs : isEnabled === (status === 'enabled');
}
