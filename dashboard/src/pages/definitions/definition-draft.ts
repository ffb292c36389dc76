/** A definition while it is edited, converted from and to the API. Only changed settings are sent. */
import type { DefView, RequestArguments } from '../../../../src/http/contract.ts';
import { tagsOf } from '../../components/start-run.tsx';
import { exactText } from '../../exact-json.ts';
import type { followTexts, misfireTexts, overlapTexts } from './labels.ts';
import { newDraft, draftOf, scheduleOf, type ScheduleDraft } from './schedule-draft.ts';

export interface DefinitionDraft {
  readonly name: string;
  readonly type: string;
  readonly schedules: readonly ScheduleDraft[];
  /** Names of definitions, separated by commas. */
  readonly after: string;
  readonly rule: keyof typeof followTexts;
  readonly params: string;
  /** Empty: the server's default, possible in a new definition only. */
  readonly overlap: keyof typeof overlapTexts | '';
  readonly misfire: keyof typeof misfireTexts | '';
  readonly priority: string;
  readonly atMost: string;
  readonly manualRuns: boolean;
  readonly tags: string;
  readonly why: string;
}

export const emptyDraft: DefinitionDraft = {
  name: '', type: '', schedules: [newDraft], after: '', rule: 'succeeded', params: '', overlap: '', misfire: '',
  priority: '', atMost: '', manualRuns: true, tags: '', why: '',
};

export function draftOfDefinition({ type, spec, schedules }: DefView): DefinitionDraft {
  return {
    name: '',
    type,
    schedules: schedules.map(({ schedule }) => draftOf(schedule)),
    after: (spec.after ?? []).join(', '),
    rule: ruleOf(spec),
    params: spec.params === undefined || spec.params === null ? '' : exactText(spec.params),
    overlap: spec.overlap,
    misfire: spec.misfire.policy,
    priority: String(spec.priority),
    atMost: String(spec.gate?.defMax ?? ''),
    manualRuns: spec.manualRuns,
    tags: Object.entries(spec.tags ?? {}).map(([name, value]) => `${name}=${value}`).join(', '),
    why: '',
  };
}

/** One choice for both settings: `on`, or what `afterFailure` says. */
function ruleOf({ on, afterFailure }: DefView['spec']): DefinitionDraft['rule'] {
  if (afterFailure === 'wait') return 'wait';
  return afterFailure === 'run' ? 'ended' : (on ?? 'succeeded');
}

const namesOf = (text: string): string[] => text.split(',').map((name) => name.trim()).filter((name) => name !== '');

const ruleFields = ({ rule }: DefinitionDraft) => (rule === 'wait' ? { afterFailure: rule } : { on: rule });

const followingOf = (draft: DefinitionDraft) => ({ after: namesOf(draft.after), ...ruleFields(draft) });

type CreateBody = RequestArguments<'createDef'>['body'];
type OverrideBody = RequestArguments<'overrideDef'>['body'];

const paramsOf = ({ params }: DefinitionDraft): unknown =>
  (params.trim() === '' ? null : (JSON.parse(params) as unknown));

/** The request that creates the definition. Omitted settings come from the job type, or are the server's defaults. */
export function creationOf(draft: DefinitionDraft): CreateBody {
  const { name, type, schedules, overlap, misfire, priority, atMost, manualRuns, tags } = draft;
  return {
    name: name.trim(),
    type: type.trim(),
    ...(draft.after.trim() === '' ? { schedules: schedules.map(scheduleOf) } : followingOf(draft)),
    ...(overlap === '' ? {} : { overlap }),
    ...(misfire === '' ? {} : { misfire }),
    ...(manualRuns ? {} : { manualRuns }),
    ...(priority.trim() === '' ? {} : { priority: Number(priority) }),
    ...(draft.params.trim() === '' ? {} : { params: paramsOf(draft) }),
    ...(atMost.trim() === '' ? {} : { concurrency: Number(atMost) }),
    ...(tags.trim() === '' ? {} : { tags: tagsOf(tags) }),
  };
}

/** The request that overrides only the settings that were changed in the dialog. */
export function overrideOf(def: DefView, before: DefinitionDraft, draft: DefinitionDraft): OverrideBody {
  const isChanged = (field: keyof DefinitionDraft): boolean =>
    JSON.stringify(draft[field]) !== JSON.stringify(before[field]);
  return {
    ...(isChanged('schedules') ? { schedules: draft.schedules.map(scheduleOf) } : {}),
    ...(isChanged('after') ? { after: namesOf(draft.after) } : {}),
    ...(isChanged('rule') ? { on: null, afterFailure: null, ...ruleFields(draft) } : {}),
    ...(isChanged('params') ? { params: paramsOf(draft) } : {}),
    ...(isChanged('overlap') && draft.overlap !== '' ? { overlap: draft.overlap } : {}),
    ...(isChanged('misfire') && draft.misfire !== '' ? { misfire: misfireOf(def, draft.misfire) } : {}),
    ...(isChanged('priority') ? { priority: Number(draft.priority) } : {}),
    ...(isChanged('manualRuns') ? { manualRuns: draft.manualRuns } : {}),
    ...(isChanged('atMost') ? { concurrency: draft.atMost.trim() === '' ? null : Number(draft.atMost) } : {}),
    ...(isChanged('tags') ? { tags: draft.tags.trim() === '' ? {} : tagsOf(draft.tags) } : {}),
    ...(draft.why.trim() === '' ? {} : { why: draft.why.trim() }),
  };
}

/**
 * The misfire setting with the chosen policy. An override replaces the whole setting, so its other parts are sent too.
 */
function misfireOf({ spec }: DefView, policy: keyof typeof misfireTexts): NonNullable<OverrideBody['misfire']> {
  const { cap, windowMs, graceMs } = spec.misfire as DefView['spec']['misfire'] & { readonly graceMs?: number };
  return { policy, cap, windowMs, ...(graceMs === undefined ? {} : { graceMs }) };
}
