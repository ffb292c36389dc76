/** The simulator: what the schedules will do, under other policies, with longer runs, or from another day on. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { queryOf, setQuery } from '../../router.ts';
import { useAnswer } from '../../state/answer.ts';
import type { Look } from '../../state/run-words.ts';
import { useFresh } from './fresh.ts';
import { draftOf, newDraft, type ScheduleDraft } from './schedule-draft.ts';
import { ScheduleFields, usePreview } from './schedule-fields.tsx';
import { gapWords, optionsOf, twiceWords } from './words.ts';

const shown = 20;
const triedShown = 10;
type Gap = keyof typeof gapWords;
type Twice = keyof typeof twiceWords;
type Does = 'runs' | 'is skipped' | 'waits' | 'replaces';

export function Simulator({ def }: { readonly def: DefView }): JSX.Element {
  return (
    <div class="stack">
      {def.schedules.length > 0 && <Foreseen def={def} />}
      <Trial def={def} />
    </div>
  );
}

function Foreseen({ def: { name, version, enabled, spec } }: { readonly def: DefView }): JSX.Element {
  const [lasts, gap, overlap] = [queryOf('lasts'), queryOf('gap') as Gap | '', queryOf('twice') as Twice | ''];
  const query = {
    count: shown,
    ...(lasts === '' ? {} : { runLasts: lasts }),
    ...(gap === '' ? {} : { gap }),
    ...(overlap === '' ? {} : { overlap }),
  };
  const preview = useFresh(
    useAnswer((abort) => call('previewDef', { params: { name }, query }, abort), [name, lasts, gap, overlap]), version,
  );
  const put = (field: string) => (value: string): void => setQuery({ [field]: value }, false);
  const asIs = { value: '' as const, says: 'as each schedule says' };
  return (
    <section class="card">
      <h2>The next ticks of this definition</h2>
      {!enabled && <p class="filter-note">It is disabled: this is what it would do if it were not.</p>}
      <div class="trial">
        <TextField label="A run lasts" hint="2h; empty: no time" name="lasts" value={lasts} onInput={put('lasts')} />
        <SelectField
          label="A time that does not exist" value={gap} options={[asIs, ...optionsOf(gapWords)]} onChange={put('gap')}
        />
        <SelectField
          label="A time that comes twice" value={overlap} options={[asIs, ...optionsOf(twiceWords)]}
          onChange={put('twice')}
        />
      </div>
      <p class="note">
        While a run is under way, its overlap policy is <b>{spec.overlap}</b>; after an outage, its misfire policy is{' '}
        <b>{spec.misfire.policy}</b>.
      </p>
      {preview.error !== null && <Failure error={preview.error} onRetry={preview.reload} />}
      {preview.data === null && preview.error === null && <Loading />}
      {preview.data !== null && (
        <TickTable label="Next ticks">
          {preview.data.items.map(({ nominal, due, shown: clock, remark, schedule, does }) => (
            <Row key={`${schedule} ${nominal}`} does={does} clock={clock} due={due} remark={remark} />
          ))}
        </TickTable>
      )}
    </section>
  );
}

/** A schedule that need not exist: it begins as a copy of the first. */
function Trial({ def }: { readonly def: DefView }): JSX.Element {
  const first = def.schedules[0]?.schedule;
  const [draft, setDraft] = useState<ScheduleDraft>(first === undefined ? newDraft : draftOf(first));
  const [from, setFrom] = useState('');
  const preview = usePreview(draft, { count: triedShown, from, name: def.name });
  return (
    <section class="card">
      <h2>Try another schedule</h2>
      <p class="note">Nothing is stored. To see a change of clocks, begin a day before it.</p>
      <div class="trial">
        <TextField label="From" hint="2027-03-27T00:00Z" placeholder="now" name="from" value={from} onInput={setFrom} />
      </div>
      <ScheduleFields draft={draft} onChange={setDraft} />
      {preview.error !== null && <Failure error={preview.error} />}
      {preview.data !== null && (
        <>
          <p class="verdict"><b>{preview.data.words}</b></p>
          <TickTable label="Ticks of the schedule that is tried">
            {preview.data.ticks.map(({ nominal, due, shown: clock, remark, skipped }) => (
              <Row key={nominal} does={skipped ? 'is skipped' : 'runs'} clock={clock} due={due} remark={remark} />
            ))}
          </TickTable>
        </>
      )}
    </section>
  );
}

function TickTable({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr><th scope="col">In its zone</th><th scope="col">Due</th><th scope="col">What
          happens</th><th scope="col" class="wide">Remark</th></tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly does: Does;
  readonly clock: string;
  readonly due: number;
  readonly remark: string | null;
}

const looks: Readonly<Record<Does, Look>> = {
  runs: 'pending', 'is skipped': 'cancelled', waits: 'held', replaces: 'cancelling',
};

const Row = ({ does, clock, due, remark }: RowProps): JSX.Element => (
  <tr>
    <td class="id">{clock}</td>
    <td><Time at={due} /></td>
    <td><Badge look={looks[does]} word={does} /></td>
    <td class="wide">{remark}</td>
  </tr>
);
