/** The plan of a definition document: what applying it would change, definition by definition and field by field. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { matches, parseGlob } from '../../model/glob.ts';
import type { Definition } from '../../model/definition.ts';
import { Refusal } from '../../refusal.ts';
import { overrideSettings, overrideVersion, paramsVersion, wholeSettings, type DefSettings } from './def-entry.ts';
import { refusalAt, type DocumentList, type WantedDefinition } from './def-document.ts';

export interface DefPlan {
  /** In the order of the document; then what `prune` removes. */
  readonly definitions: readonly PlannedDefinition[];
  /** Identifies what the plan changes. Pass it to apply exactly this plan. */
  readonly digest: string;
}

export interface PlannedDefinition {
  readonly name: string;
  readonly action: 'create' | 'change' | 'delete' | 'unchanged';
  /** `overrides`: code declares the definition, and only its override changes. */
  readonly list: DocumentList;
  readonly fields: readonly PlannedField[];
}

/** A field that is absent before or after has no `before` or `after`. */
export interface PlannedField {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface PlanOptions {
  /** True: definitions that are not in the document are deleted, and overrides that are not in it are removed. */
  readonly prune?: boolean;
  /** A GLOB pattern. `prune` removes only definitions whose name matches. */
  readonly match?: string;
}

/** A stored definition, as far as a plan depends on it. */
export type PlannedFrom = Definition & { readonly name: string; readonly isEnabled: boolean };

/** `stored` has the definitions that the document names; with `prune`, all definitions. */
export function planDocument(
  wanted: readonly WantedDefinition[],
  stored: ReadonlyMap<string, PlannedFrom>,
  options: PlanOptions,
): DefPlan {
  const planned = wanted.map((each) => planEntry(each, stored.get(each.name)));
  const definitions = [...planned, ...(options.prune ? pruned(wanted, stored, options) : [])];
  return { definitions, digest: digestOf(definitions) };
}

export const isEffective = ({ action }: PlannedDefinition): boolean => action !== 'unchanged';

function planEntry(wanted: WantedDefinition, stored: PlannedFrom | undefined): PlannedDefinition {
  refuseMismatch(wanted, stored);
  const { name, list, type, enabled, typeVersion } = wanted;
  if (stored === undefined) {
    return { name, list, action: 'create', fields: fieldsOf({}, { type, enabled, ...wanted.settings, typeVersion }) };
  }
  const settings = list === 'definitions' ? wholeSettings(stored) : overrideSettings(stored);
  const fields = fieldsOf(
    { enabled: stored.isEnabled, ...comparable(settings, wanted), typeVersion: comparableVersion(stored, wanted) },
    { enabled: enabled ?? stored.isEnabled, ...wanted.settings, typeVersion },
  );
  return { name, list, action: fields.length === 0 ? 'unchanged' : 'change', fields };
}

/** Leaves out the limit key if the document does: then it is computed from the parameters. */
function comparable({ limitKey, ...settings }: DefSettings, wanted: WantedDefinition): DefSettings {
  return limitKey === undefined || wanted.settings.limitKey === undefined ? settings : { ...settings, limitKey };
}

/** Returns the stored version of the parameters; undefined also if the document does not state one. */
function comparableVersion(stored: PlannedFrom, { list, typeVersion }: WantedDefinition): number | undefined {
  if (typeVersion === undefined) return undefined;
  return list === 'definitions' ? paramsVersion(stored) : overrideVersion(stored);
}

function refuseMismatch({ list, path, name, type }: WantedDefinition, stored: PlannedFrom | undefined): void {
  const isByCode = stored?.build !== undefined;
  if (list === 'overrides' && !isByCode) {
    const message = stored
      ? `no code declares definition ${name}: write it under definitions`
      : `there is no definition ${name} to override: start the program that declares it first`;
    throw refusalAt(path, new Refusal('unknown.definition', message, { name }));
  }
  if (list === 'definitions' && isByCode) {
    const message = `code declares definition ${name}: write only the settings to change, under overrides`;
    throw refusalAt(path, new Refusal('declared.definition', message, { name }));
  }
  if (list === 'definitions' && stored && stored.code.type !== type) {
    const message =
      `definition ${name} was created with the job type ${stored.code.type}, not ${type}: give one of them another name`;
    throw refusalAt([...path, 'type'], new Refusal('taken.key', message, { name, type: stored.code.type }));
  }
}

function pruned(
  wanted: readonly WantedDefinition[],
  stored: ReadonlyMap<string, PlannedFrom>,
  { match = '*' }: PlanOptions,
): readonly PlannedDefinition[] {
  const names = new Set(wanted.map(({ name }) => name));
  const glob = parseGlob(match);
  return [...stored.values()].flatMap((each): PlannedDefinition[] => {
    const { name, build, override } = each;
    if (names.has(name) || !matches(glob, name)) return [];
    if (build === undefined) return [{ name, list: 'definitions', action: 'delete', fields: [] }];
    const fields = override === null ? [] : fieldsOf({ ...overrideSettings(each) }, {});
    return fields.length === 0 ? [] : [{ name, list: 'overrides', action: 'change', fields }];
  });
}

function fieldsOf(before: object, after: object): readonly PlannedField[] {
  const [was, is] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => !isDeepStrictEqual(was.get(field), is.get(field)))
    .map((field) => ({ field, ...valueOf('before', was.get(field)), ...valueOf('after', is.get(field)) }));
}

const valueOf = (side: 'before' | 'after', value: unknown): object => (value === undefined ? {} : { [side]: value });

const digestOf = (definitions: readonly PlannedDefinition[]): string =>
  createHash('sha256').update(JSON.stringify(definitions.filter(isEffective))).digest('hex').slice(0, 16);
