/**
 * The definition document: definitions and overrides as one JSON value, such as a file in git contains. Reading it
 * refuses unknown fields, wrong values and a name that appears twice. Each refusal names the path in the document.
 */
import { checkOverride, mergeOverride } from '../../jobs/checks/spec.ts';
import {
  checkFields, checkFlag, checkList, checkName, checkObject, checkRunnableType, checkTypeVersion,
} from '../../jobs/checks/values.ts';
import type { Spec } from '../../model/definition.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import { scheduleFrom } from '../../time/schedule-entry.ts';
import type { Schedule } from '../../time/schedule.ts';
import { overridePatch } from './def-changes.ts';
import { overrideSettings, wholeSettings, type DefEntry, type DefSettings, type OverrideEntry } from './def-entry.ts';
import { defOptionNames, specFrom, type DefOptions } from './job-def.ts';
import { rulesOfUnknown } from './type-rules.ts';

export interface DefDocument {
  /** Definitions that no code declares, whole. */
  readonly definitions?: readonly DefEntry[];
  /** What operators change in definitions that code declares. */
  readonly overrides?: readonly OverrideEntry[];
}

export type DocumentList = keyof DefDocument;

/** A path in a document, such as `['definitions', 3, 'timeout']`. */
export type DocumentPath = readonly (string | number)[];

/** A definition or override as a document wants it. */
export interface WantedDefinition {
  readonly list: DocumentList;
  readonly path: DocumentPath;
  readonly name: string;
  /** Undefined: an override, which cannot change the type. */
  readonly type: string | undefined;
  readonly enabled: boolean | undefined;
  /** The version of the parameters, if the document states it. */
  readonly typeVersion: number | undefined;
  /** The settings in the form in which `wholeSettings` and `overrideSettings` write them, so that they can be compared. */
  readonly settings: DefSettings;
  /** The options of `jobDef`. Empty for an override. */
  readonly options: DefOptions<unknown>;
  /** The settings that are stored as an override. Of a whole definition: those that `jobDef` has no option for. */
  readonly override: Partial<Spec> | null;
}

const entriesMax = 10_000;
const storedNames = ['policy', 'gate', 'limitKey'] as const;
const settingNames = [
  ...defOptionNames.filter((name) => !['enabled', 'inMemory'].includes(name)), ...storedNames, 'typeVersion',
];
/** What depends on the definitions that are followed. */
const besideAfter = ['on', 'afterFailure', 'params'];
const lists: readonly DocumentList[] = ['definitions', 'overrides'];

export function readDocument(document: DefDocument, now: number): readonly WantedDefinition[] {
  const { definitions, overrides } = checkDocument(document);
  const wanted = [
    ...entriesOf('definitions', definitions, (entry, path) => readDefinition(entry, path, now)),
    ...entriesOf('overrides', overrides, (entry, path) => readOverride(entry, path, now)),
  ];
  refuseNameTwice(wanted);
  return wanted;
}

/** Runs a check of a part of a document. A refusal gets the path of that part in front, unless it has one already. */
export async function checkAt<T>(path: DocumentPath, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    throw isRefusal(error) ? located(error, path) : error;
  }
}

export const refusalAt = (path: DocumentPath, refusal: Refusal): Refusal => located(refusal, path);

function checkDocument(document: DefDocument): DefDocument {
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  if (isObject && lists.some((list) => document[list] != null)) return checkFields('the document', document, lists);
  if (isObject) checkFields('the document', document, lists);
  throw new Refusal('malformed.document', 'the document must have definitions, overrides or both, each a list', {});
}

const entriesOf = <E>(
  list: DocumentList,
  entries: readonly E[] | null | undefined,
  read: (entry: E, path: DocumentPath) => WantedDefinition,
): readonly WantedDefinition[] =>
  checkAtOnce([list], () => checkList(list, entries ?? [], entriesMax, (entry) => entry))
    .map((entry, index) => checkAtOnce([list, index], () => read(entry, [list, index])));

function readDefinition(entry: DefEntry, path: DocumentPath, now: number): WantedDefinition {
  checkEntry('a definition', entry, ['name', 'type', 'enabled', ...settingNames], path);
  const { name: _name, type, enabled: _enabled, typeVersion: _version, ...settings } = entry;
  const rules = rulesOfUnknown(checkAtOnce([...path, 'type'], () => checkRunnableType(type)));
  const given = present(settings, path);
  const options = without(given, storedNames) as DefOptions<unknown>;
  for (const [field, value] of Object.entries(options)) {
    const alone = { ...(besideAfter.includes(field) ? only(options, ['after']) : {}), [field]: value };
    checkAtOnce([...path, field], () => specFrom(rules, alone, undefined));
  }
  const override = overrideOf(only(given, storedNames), path, now);
  const code = checkAtOnce(path, () => specFrom(rules, options, undefined));
  return { ...common('definitions', path, entry), type, options, override,
    settings: wholeSettings({ code, override }) };
}

function readOverride(entry: OverrideEntry, path: DocumentPath, now: number): WantedDefinition {
  checkEntry('an override', entry, ['name', 'enabled', ...settingNames], path);
  const { name: _name, enabled: _enabled, typeVersion, ...settings } = entry;
  const override = overrideOf(present(settings, path), path, now);
  if (typeVersion != null && override?.params === undefined) throw versionAlone(path);
  return { ...common('overrides', path, entry), type: undefined, options: {}, override,
    settings: overrideSettings({ override }) };
}

/** Refuses a field that an entry cannot have, at the path of that field. */
function checkEntry(what: string, entry: object, allowed: readonly string[], path: DocumentPath): void {
  const unknown = Object.keys(checkObject(what, entry)).find((field) => !allowed.includes(field));
  if (unknown !== undefined) checkAtOnce([...path, unknown], () => checkFields(what, entry, allowed));
}

const common = (list: DocumentList, path: DocumentPath, { name, enabled, typeVersion }: OverrideEntry) => ({
  list,
  path,
  name: checkAtOnce([...path, 'name'], () => checkName('definition', name)),
  enabled: enabled == null ? undefined : checkAtOnce([...path, 'enabled'], () => checkFlag('enabled', enabled)),
  typeVersion: typeVersion == null
    ? undefined
    : checkAtOnce([...path, 'typeVersion'], () => checkTypeVersion(typeVersion)),
});

const versionAlone = (path: DocumentPath): Refusal => refusalAt(
  [...path, 'typeVersion'],
  new Refusal('malformed.document', 'typeVersion is the version of params: write the params, too, or leave it out', {}),
);

/**
 * Returns the settings that have a value, with parsed schedules. Null counts as left out, as in `timeout:` without a
 * value in YAML; only `params` may be null.
 */
function present(settings: DefSettings, path: DocumentPath): Record<string, unknown> {
  const given = Object.entries(settings).filter(([field, value]) => field === 'params' || value != null);
  return Object.fromEntries(given.map(([field, value]) =>
    [field, field === 'schedules' ? schedulesAt([...path, field], value) : value]));
}

const schedulesAt = (path: DocumentPath, entries: unknown): readonly Schedule[] =>
  [entries].flat().map((entry, index) =>
    checkAtOnce(Array.isArray(entries) ? [...path, index] : path, () => scheduleFrom(entry)));

function overrideOf(given: Record<string, unknown>, path: DocumentPath, now: number): Partial<Spec> | null {
  const patchOf = (settings: object): Partial<Spec> =>
    checkOverride(mergeOverride(null, overridePatch(settings)), now);
  for (const [field, value] of Object.entries(given)) {
    checkAtOnce([...path, field], () => patchOf({ [field]: value }));
  }
  const override = checkAtOnce(path, () => patchOf(given));
  return Object.keys(override).length === 0 ? null : override;
}

function refuseNameTwice(wanted: readonly WantedDefinition[]): void {
  const seen = new Map<string, WantedDefinition>();
  for (const each of wanted) {
    const first = seen.get(each.name);
    if (first) {
      const message = `the name ${each.name} is used twice: ${pathText(first.path)} has it already`;
      throw located(new Refusal('malformed.document', message, { name: each.name }), [...each.path, 'name']);
    }
    seen.set(each.name, each);
  }
}

function checkAtOnce<T>(path: DocumentPath, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw isRefusal(error) ? located(error, path) : error;
  }
}

function located(refusal: Refusal, path: DocumentPath): Refusal {
  if (refusal.detail['documentPath'] !== undefined) return refusal;
  return new Refusal(refusal.code, `${pathText(path)}: ${refusal.message}`, { ...refusal.detail, documentPath: path });
}

/** Returns a path as a text such as `definitions[3].timeout`. */
const pathText = (path: DocumentPath): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');

const only = (given: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));

const without = (given: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
