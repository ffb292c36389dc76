/** Definitions as data over HTTP: export and apply documents, clone, rename, and switch many definitions at once. */
import type { DefPlan, PlannedField } from '../../engine/declare/def-plan.ts';
import { checkPriorityOf, priorityMaxOf } from '../access/priority.ts';
import { redact, type Visibility } from '../access/redact.ts';
import type { Answer } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { HttpRefusal } from '../problems.ts';
import { definitionView } from '../views.ts';
import { defFilterOf } from './defs.ts';
import { act } from './runs.ts';

type DefDocumentRouteNames = 'exportDefs' | 'applyDefs' | 'switchDefs' | 'cloneDef' | 'renameDef';

export const defDocumentRoutes: StoreRouteHandlers<DefDocumentRouteNames> = {
  async exportDefs({ engine }, { query: { whole = false, ...filter } }, { principal: { visibility } }) {
    // An export with redacted values would overwrite the real values when it is applied.
    if (visibility !== 'full') throw new HttpRefusal('forbidden', 'this token does not see payloads, which an export has');
    const { definitions = [], overrides = [] } = await engine.exportDefinitions({ ...defFilterOf(filter, visibility), whole });
    return { definitions: definitions.map(fieldsOf), overrides: overrides.map(fieldsOf) };
  },

  async applyDefs(services, { body: { definitions, overrides, dryRun = false, why, digest, ...options } }, { principal }) {
    const { engine, priorities } = services;
    const document: object = { ...(definitions ? { definitions } : {}), ...(overrides ? { overrides } : {}) };
    const { prune = false, match } = options;
    const planOptions = { prune, ...(match === undefined ? {} : { match }) };
    const isBounded = priorityMaxOf(principal, priorities) !== null;
    const plan = dryRun || isBounded ? await engine.planDefinitions(document, planOptions) : null;
    for (const priority of prioritiesOf(plan)) checkPriorityOf(principal, priority, priorities);
    if (dryRun) return planView(plan!, principal.visibility);
    // The digest makes the apply refuse another plan than the one whose priorities were checked.
    const expected = digest ?? plan?.digest;
    const applyOptions = { ...planOptions, ...(expected === undefined ? {} : { digest: expected }) };
    return planView(await engine.applyDefinitions(document, applyOptions, act(principal, why)), principal.visibility);
  },

  async switchDefs({ engine }, { body: { enabled, dryRun = false, why, ...filter } }, { principal }) {
    const matching = defFilterOf(filter, principal.visibility);
    return { names: [...await engine.switchDefinitions(matching, enabled, { dryRun }, act(principal, why))] };
  },

  async cloneDef({ engine, priorities }, { params: { name }, body: { name: clone, enabled, why } }, { principal }) {
    checkPriorityOf(principal, (await engine.definition(name)).spec.priority, priorities);
    await engine.cloneDefinition(name, clone, enabled === undefined ? {} : { enabled }, act(principal, why));
    return definitionView(engine, await engine.definition(clone), principal.visibility);
  },

  async renameDef({ engine }, { params: { name }, body: { name: renamed, why } }, { principal }) {
    await engine.renameDefinition(name, renamed, act(principal, why));
    return definitionView(engine, await engine.definition(renamed), principal.visibility);
  },
};

/** The priorities that a plan changes. */
const prioritiesOf = (plan: DefPlan | null): readonly number[] =>
  (plan?.definitions ?? []).flatMap(({ fields }) => fields.flatMap(({ field, after }) =>
    (field === 'priority' && typeof after === 'number' ? [after] : [])));

const fieldsOf = (entry: object): Record<string, unknown> => ({ ...entry });

const planView = ({ definitions, digest }: DefPlan, visibility: Visibility): Answer<'applyDefs'> => ({
  definitions: definitions.map(({ fields, ...planned }) =>
    ({ ...planned, fields: fields.map((field) => fieldView(field, visibility)) })),
  digest,
});

/** Redacts parameters and tags, as in other answers. The other settings contain no secrets. */
const fieldView = (field: PlannedField, visibility: Visibility): PlannedField =>
  (field.field !== 'params' && field.field !== 'tags' ? field : {
    field: field.field,
    ...('before' in field ? { before: redact(field.before, visibility) } : {}),
    ...('after' in field ? { after: redact(field.after, visibility) } : {}),
  });
