/** The fields of one schedule, and a preview of its next ticks. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { SelectField, TextField, type SelectOption } from '../../components/field.tsx';
import { messageOf } from '../../problem.ts';
import { useResource, type Resource } from '../../state/resource.ts';
import { gapTexts, optionsOf, repeatTexts } from './labels.ts';
import { scheduleOf, type ScheduleDraft, type ScheduleKind } from './schedule-draft.ts';

const kinds: readonly SelectOption<ScheduleKind>[] = [
  { value: 'cron', label: 'cron' },
  { value: 'every', label: 'interval' },
  { value: 'repeat', label: 'repeat pattern' },
  { value: 'at', label: 'once' },
];

const hints: Readonly<Record<ScheduleKind, string>> = {
  cron: '30 2 * * mon-fri, @daily',
  every: '15m, 1h30m',
  repeat: 'FINISHED, +1 DAY, START OF DAY',
  at: '2026-12-24T18:00:00Z',
};

const starts: readonly SelectOption<ScheduleDraft['from']>[] = [
  { value: 'scheduled', label: 'the scheduled time' },
  { value: 'started', label: 'the start of the last run' },
  { value: 'finished', label: 'the end of the last run' },
];

const zones = Intl.supportedValuesOf('timeZone');
const unset = { value: '', label: '(default)' } as const;

interface ScheduleFieldsProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (draft: ScheduleDraft) => void;
}

export function ScheduleFields({ draft, onChange }: ScheduleFieldsProps): JSX.Element {
  const { kind, text, zone, gap, overlap, from, spread } = draft;
  const set = <N extends keyof ScheduleDraft>(name: N) => (value: ScheduleDraft[N]): void =>
    onChange({ ...draft, [name]: value });
  return (
    <div class="schedule-fields">
      <SelectField label="Kind" value={kind} options={kinds} onChange={set('kind')} />
      <TextField label="When" hint={hints[kind]} name="when" value={text} onInput={set('text')} isRequired />
      {kind === 'cron' && (
        <>
          <TextField label="Time zone" name="zone" value={zone} onInput={set('zone')} suggestions={zones} />
          <SelectField
            label="If the time is skipped (DST)" value={gap} onChange={set('gap')}
            options={[unset, ...optionsOf(gapTexts)]}
          />
          <SelectField
            label="If the time repeats (DST)" value={overlap} onChange={set('overlap')}
            options={[unset, ...optionsOf(repeatTexts)]}
          />
        </>
      )}
      {kind === 'every' && <SelectField label="Counted from" value={from} options={starts} onChange={set('from')} />}
      {(kind === 'cron' || kind === 'every') && (
        <TextField label="Jitter (max delay)" hint="30s, 5m" name="spread" value={spread} onInput={set('spread')} />
      )}
    </div>
  );
}

interface PreviewOptions {
  readonly from?: string;
  readonly count: number;
  readonly name?: string;
}

/** Loads the next ticks of a draft, again whenever the draft changes. */
export function usePreview(
  draft: ScheduleDraft, { from, count, name }: PreviewOptions,
): Resource<Answer<'previewSchedule'>> {
  const schedule = scheduleOf(draft);
  const rest = { ...(from === undefined || from === '' ? {} : { from }), ...(name === undefined ? {} : { name }) };
  const body = { schedule, count, ...rest };
  return useResource((abort) => call('previewSchedule', { body }, abort), [JSON.stringify(body)]);
}

/** Shows the schedule in words and its next ticks, or why the schedule is invalid. */
export function SchedulePreview({ draft }: { readonly draft: ScheduleDraft }): JSX.Element {
  const preview = usePreview(draft, { count: 3 });
  if (preview.error !== null) return <strong class="field-error" role="alert">{messageOf(preview.error)}</strong>;
  if (preview.data === null) return <p class="faint">…</p>;
  const { words, ticks } = preview.data;
  return (
    <p class="verdict">
      <b>{words}</b>
      {ticks.length === 0
        ? ' has no future ticks.'
        : <> next: {ticks.map(({ shown, nominal }) => <span class="chip" key={nominal}>{shown}</span>)}</>}
    </p>
  );
}
