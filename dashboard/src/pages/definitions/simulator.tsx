/** The simulator: shows the next ticks if policies, the duration of runs or the start date were different. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { queryOf, setQuery } from '../../router.ts';
import { useResource } from '../../state/resource.ts';
import { useReloadOnVersion } from './reload-on-version.ts';
import { draftOf, newDraft, type ScheduleDraft } from './schedule-draft.ts';
import { ScheduleFields, usePreview } from './schedule-fields.tsx';
import { gapTexts, optionsOf, repeatTexts, tickLabel } from './labels.ts';

const shown = 20;
const triedShown = 10;
type Gap = keyof typeof gapTexts;
type Repeat = keyof typeof repeatTexts;

export function Simulator({ def }: { readonly def: DefView }): JSX.Element {
  return (
    <div class="stack">
      {def.schedules.length > 0 && <NextTicks def={def} />}
      <Trial def={def} />
    </div>
  );
}

function NextTicks({ def: { name, version, enabled, spec } }: { readonly def: DefView }): JSX.Element {
  const [lasts, gap, overlap] = [queryOf('lasts'), queryOf('gap') as Gap | '', queryOf('twice') as Repeat | ''];
  const query = {
    count: shown,
    ...(lasts === '' ? {} : { runLasts: lasts }),
    ...(gap === '' ? {} : { gap }),
    ...(overlap === '' ? {} : { overlap }),
  };
  const preview = useReloadOnVersion(
    useResource((abort) => call('previewDef', { params: { name }, query }, abort), [name, lasts, gap, overlap]),
    version,
  );
  return (
    <section class="card">
      <h2>Next ticks</h2>
      {!enabled && <p class="filter-note">This definition is disabled. The ticks are what it would do if enabled.</p>}
      <WhatIfFields lasts={lasts} gap={gap} overlap={overlap} />
      <p class="note">
        Overlap policy: <b>{spec.overlap}</b>. Misfire policy: <b>{spec.misfire.policy}</b>.
      </p>
      {preview.error !== null && <Failure error={preview.error} onRetry={preview.reload} />}
      {preview.data === null && preview.error === null && <Loading />}
      {preview.data !== null && (
        <TickTable label="Next ticks">
          {preview.data.items.map(({ nominal, due, shown: clock, remark, schedule, does }) => (
            <Row key={`${schedule} ${nominal}`} outcome={does} clock={clock} due={due} remark={remark} />
          ))}
        </TickTable>
      )}
    </section>
  );
}

interface WhatIf {
  readonly lasts: string;
  readonly gap: Gap | '';
  readonly overlap: Repeat | '';
}

function WhatIfFields({ lasts, gap, overlap }: WhatIf): JSX.Element {
  const set = (field: string) => (value: string): void => setQuery({ [field]: value }, false);
  const unset = { value: '' as const, label: 'as scheduled' };
  return (
    <div class="trial">
      <TextField
        label="Duration of a run" hint="2h; empty for none" name="lasts" value={lasts} onInput={set('lasts')}
      />
      <SelectField
        label="If the time is skipped (DST)" value={gap} options={[unset, ...optionsOf(gapTexts)]} onChange={set('gap')}
      />
      <SelectField
        label="If the time repeats (DST)" value={overlap} options={[unset, ...optionsOf(repeatTexts)]}
        onChange={set('twice')}
      />
    </div>
  );
}

/** Previews a schedule that is not stored. The fields start as a copy of the definition's first schedule. */
function Trial({ def }: { readonly def: DefView }): JSX.Element {
  const first = def.schedules[0]?.schedule;
  const [draft, setDraft] = useState<ScheduleDraft>(first === undefined ? newDraft : draftOf(first));
  const [from, setFrom] = useState('');
  const preview = usePreview(draft, { count: triedShown, from, name: def.name });
  return (
    <section class="card">
      <h2>Try another schedule</h2>
      <p class="note">Nothing is saved. To see a daylight saving change, start a day before it.</p>
      <div class="trial">
        <TextField
          label="Start at" hint="2027-03-27T00:00Z" placeholder="now" name="from" value={from} onInput={setFrom}
        />
      </div>
      <ScheduleFields draft={draft} onChange={setDraft} />
      {preview.error !== null && <Failure error={preview.error} />}
      {preview.data !== null && (
        <>
          <p class="verdict"><b>{preview.data.words}</b></p>
          <TickTable label="Ticks of the new schedule">
            {preview.data.ticks.map(({ nominal, due, shown: clock, remark, skipped }) => (
              <Row key={nominal} outcome={skipped ? 'is skipped' : 'runs'} clock={clock} due={due} remark={remark} />
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
          <tr>
            <th scope="col">Local time</th><th scope="col">Due</th><th scope="col">Outcome</th>
            <th scope="col" class="wide">Note</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly outcome: Parameters<typeof tickLabel>[0];
  readonly clock: string;
  readonly due: number;
  readonly remark: string | null;
}

const Row = ({ outcome, clock, due, remark }: RowProps): JSX.Element => (
  <tr>
    <td class="id">{clock}</td>
    <td><Time at={due} /></td>
    <td><Badge {...tickLabel(outcome)} /></td>
    <td class="wide">{remark}</td>
  </tr>
);
