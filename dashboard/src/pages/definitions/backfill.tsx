/** The backfill of a definition: the ticks of a range, how many of them have no run, and the button that creates those. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { confirm } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { Failure } from '../../components/notice.tsx';
import { withToast } from '../../components/toast.tsx';
import { number } from '../../format.ts';
import { go, queryOf, setQuery } from '../../router.ts';
import { now } from '../../state/clock.ts';
import { useResource, type Resource } from '../../state/resource.ts';
import { mayOperate } from '../../state/session.ts';
import { optionsOf } from './labels.ts';
import { RangeTicks } from './range-ticks.tsx';
import { useReloadOnVersion } from './reload-on-version.ts';

type Plan = Answer<'backfillDef'>;

const dayMs = 86_400_000;
const onlyTexts = {
  missing: 'ticks without a run', all: 'all ticks: retry runs that have ended',
} as const;
type Only = keyof typeof onlyTexts;

interface Choice {
  readonly from: string;
  readonly to: string;
  readonly only: Only;
  readonly concurrency: string;
  /** Whether the definitions that follow it get runs, too; 'no' or empty. */
  readonly followers: string;
}

export function Backfill({ def }: { readonly def: DefView }): JSX.Element {
  const [opened] = useState(() => now.value);
  const choice: Choice = {
    from: queryOf('from') || minuteText(opened - dayMs),
    to: queryOf('to') || minuteText(opened),
    only: queryOf('only') === 'all' ? 'all' : 'missing',
    concurrency: queryOf('concurrency') || '1',
    followers: queryOf('followers') === 'no' ? 'no' : '',
  };
  return (
    <div class="stack">
      <section class="card" aria-label="Backfill">
        <h2>Range</h2>
        <p class="note">A backfill creates the runs of past ticks that have none. No tick gets two runs.</p>
        <Fields choice={choice} followers={def.followers} />
        {mayOperate.value && <Preview def={def} choice={choice} />}
      </section>
      <RangeTicks name={def.name} version={def.version} from={choice.from} to={choice.to} />
    </div>
  );
}

/** A time as the fields have it, in UTC: 2026-03-29T02:30Z. */
const minuteText = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`;

function Fields({ choice, followers }: { readonly choice: Choice; readonly followers: readonly string[] }): JSX.Element {
  const set = (field: keyof Choice) => (value: string): void => setQuery({ [field]: value, after: null }, false);
  return (
    <div class="trial">
      <TextField label="From" hint="2026-03-01T00:00Z" name="from" value={choice.from} onInput={set('from')} />
      <TextField label="To" hint="not in the future" name="to" value={choice.to} onInput={set('to')} />
      {mayOperate.value && (
        <>
          <SelectField label="Which ticks" value={choice.only} options={optionsOf(onlyTexts)} onChange={set('only')} />
          <TextField
            label="Open runs at a time" hint="1 to 1000" name="concurrency" value={choice.concurrency}
            onInput={set('concurrency')}
          />
          {followers.length > 0 && (
            <CheckField
              label={<>Also run what follows it: {followers.join(', ')}</>} isOn={choice.followers !== 'no'}
              onChange={(isOn) => set('followers')(isOn ? '' : 'no')}
            />
          )}
        </>
      )}
    </div>
  );
}

const bodyOf = ({ from, to, only, concurrency, followers }: Choice) => ({
  from, to, only, concurrency: Number(concurrency), ...(followers === 'no' ? { followers: false } : {}),
});

function usePlan({ name, version }: DefView, choice: Choice): Resource<Plan> {
  const body = { ...bodyOf(choice), dryRun: true };
  const plan = useResource((abort) => call('backfillDef', { params: { name }, body }, abort), [name, ...Object.values(choice)]);
  return useReloadOnVersion(plan, version);
}

function Preview({ def, choice }: { readonly def: DefView; readonly choice: Choice }): JSX.Element {
  const plan = usePlan(def, choice);
  if (plan.error !== null) return <Failure error={plan.error} />;
  if (plan.data === null) return <p class="faint">Counting the ticks…</p>;
  const { missing } = plan.data;
  const isUseful = missing > 0 || (choice.only === 'all' && plan.data.existing > 0);
  return (
    <>
      <p class="verdict">{verdictOf(plan.data)}</p>
      <button
        type="button" class="button" data-kind="primary" disabled={!isUseful}
        onClick={() => void start(def.name, choice, plan.data!)}
      >
        {choice.only === 'all' ? 'Backfill all ticks' : `Backfill ${number(missing)} ${missing === 1 ? 'tick' : 'ticks'}`}
      </button>
    </>
  );
}

function verdictOf({ ticks, missing, existing, inGaps, leftToSchedule, unknown }: Plan): JSX.Element {
  const parts = [
    `${number(existing)} have a run`,
    ...(inGaps > 0 ? [`${number(inGaps)} do not run because of a clock change`] : []),
    ...(leftToSchedule > 0 ? [`${number(leftToSchedule)} are due now`] : []),
    ...(unknown > 0 ? [`${number(unknown)} may have run under an earlier name`] : []),
  ];
  return <><b>{number(missing)} of {number(ticks)} ticks have no run</b>; {parts.join(', ')}.</>;
}

async function start(name: string, choice: Choice, { missing, existing }: Plan): Promise<void> {
  const text = choice.only === 'all'
    ? `Creates ${number(missing)} runs and retries up to ${number(existing)}, at most ${choice.concurrency} at a time.`
    : `Creates ${number(missing)} runs, at most ${choice.concurrency} open at a time.`;
  const reason = await confirm({ title: `Backfill ${name}?`, text, action: 'Start backfill' });
  if (reason === null) return;
  const body = { ...bodyOf(choice), ...reason };
  const started = await withToast(() => call('backfillDef', { params: { name }, body }), () => `Backfill of ${name} started`);
  if (started?.operation != null) go(`/runs/${started.operation}`);
}
