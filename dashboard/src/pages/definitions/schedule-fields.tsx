/** The fields of one schedule, with its words and next ticks beside them while it is being written. */
import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { sentenceOf } from '../../problem.ts';
import { useAnswer, type Held } from '../../state/answer.ts';
import type { Answer } from '../../../../src/http/contract.ts';
import { askOf, type Kind, type ScheduleDraft } from './schedule-draft.ts';
import { gapWords, optionsOf, twiceWords } from './words.ts';

const kinds: readonly { readonly value: Kind; readonly says: string }[] = [
  { value: 'cron', says: 'cron' },
  { value: 'every', says: 'every so often' },
  { value: 'repeat', says: 'repeat rule' },
  { value: 'at', says: 'once, at a time' },
];

const hints: Readonly<Record<Kind, string>> = {
  cron: '30 2 * * mon-fri, @daily',
  every: '15m, 1h30m',
  repeat: 'FINISHED, +1 DAY, START OF DAY',
  at: '2026-12-24T18:00:00Z',
};

const zones = Intl.supportedValuesOf('timeZone');

interface ScheduleFieldsProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (draft: ScheduleDraft) => void;
}

export function ScheduleFields({ draft, onChange }: ScheduleFieldsProps): JSX.Element {
  const { kind, text, zone, gap, overlap, from, spread } = draft;
  const put = <N extends keyof ScheduleDraft>(name: N) => (value: ScheduleDraft[N]): void =>
    onChange({ ...draft, [name]: value });
  return (
    <div class="schedule-fields">
      <SelectField label="Kind" value={kind} options={kinds} onChange={put('kind')} />
      <TextField label="When" hint={hints[kind]} name="when" value={text} onInput={put('text')} isRequired />
      {kind === 'cron' && (
        <>
          <TextField label="Zone" name="zone" value={zone} onInput={put('zone')} suggestions={zones} />
          <SelectField
            label="A time that does not exist" value={gap} onChange={put('gap')}
            options={[{ value: '', says: 'default' }, ...optionsOf(gapWords)]}
          />
          <SelectField
            label="A time that comes twice" value={overlap} onChange={put('overlap')}
            options={[{ value: '', says: 'default' }, ...optionsOf(twiceWords)]}
          />
        </>
      )}
      {kind === 'every' && (
        <SelectField
          label="Counted from" value={from} options={['scheduled', 'started', 'finished']} onChange={put('from')}
        />
      )}
      {(kind === 'cron' || kind === 'every') && (
        <TextField label="Spread" hint="at most so much later" name="spread" value={spread} onInput={put('spread')} />
      )}
    </div>
  );
}

interface Trial {
  readonly from?: string;
  readonly count: number;
  readonly name?: string;
}

/** What the draft would do; asked anew whenever it changes. */
export function usePreview(draft: ScheduleDraft, { from, count, name }: Trial): Held<Answer<'previewSchedule'>> {
  const schedule = askOf(draft);
  const rest = { ...(from === undefined || from === '' ? {} : { from }), ...(name === undefined ? {} : { name }) };
  const body = { schedule, count, ...rest };
  return useAnswer((abort) => call('previewSchedule', { body }, abort), [JSON.stringify(body)]);
}

/** Its words and first ticks, or what is wrong with it. */
export function ScheduleVerdict({ draft }: { readonly draft: ScheduleDraft }): JSX.Element {
  const preview = usePreview(draft, { count: 3 });
  if (preview.error !== null) return <strong class="field-error" role="alert">{sentenceOf(preview.error)}</strong>;
  if (preview.data === null) return <p class="faint">…</p>;
  const { words, ticks } = preview.data;
  return (
    <p class="verdict">
      <b>{words}</b>
      {ticks.length === 0
        ? ' It never comes due.'
        : <> next: {ticks.map(({ shown, nominal }) => <span class="chip" key={nominal}>{shown}</span>)}</>}
    </p>
  );
}
