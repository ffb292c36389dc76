/** One definition: when it runs, what it did, what counts for it, and what can be done to it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Badge, Chip } from '../../components/badge.tsx';
import { confirm } from '../../components/dialog.tsx';
import { Figure } from '../../components/figure.tsx';
import { Icon } from '../../components/icon.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { startRun } from '../../components/start-run.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { attempt } from '../../components/toast.tsx';
import { go, href } from '../../router.ts';
import { textOf } from '../../search.ts';
import { useAnswer } from '../../state/answer.ts';
import { useShortcuts, type Shortcut } from '../../state/keys.ts';
import { useChanges } from '../../state/live.ts';
import { mayOperate, mayProduce, me } from '../../state/session.ts';
import { Calendar } from './calendar.tsx';
import { EditDefinition } from './edit.tsx';
import { useFresh } from './fresh.ts';
import { History } from './history.tsx';
import { LastRun } from './last-run.tsx';
import { Settings } from './settings.tsx';
import { Simulator } from './simulator.tsx';
import { Ticks, useTicks } from './ticks.tsx';
import { statusOf } from './words.ts';

const plannedMax = 1000;
const pastMax = 1000;

export function DefPage({ name }: { readonly name: string }): JSX.Element {
  const def = useAnswer((abort) => call('getDef', { params: { name } }, abort), [name]);
  useChanges({ kind: ['def', 'run'] }, def.reload);
  return (
    <>
      <BackLink path="/definitions" title="Definitions" />
      {def.error !== null && <Failure error={def.error} onRetry={def.reload} />}
      {def.data === null && def.error === null && <Loading />}
      {def.data !== null && <Known def={def.data} reload={def.reload} />}
    </>
  );
}

interface KnownProps {
  readonly def: DefView;
  readonly reload: () => void;
}

function Known({ def, reload }: KnownProps): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  const deeds = deedsOf(def, reload, () => setEditing(true));
  useShortcuts(deeds);
  const words = def.schedules.map((schedule) => schedule.words);
  return (
    <>
      <header class="page-head">
        <h1>{def.name}</h1>
        <Badge {...statusOf(def)} />
        {def.override !== null && <Chip title="An operator's word counts more than the code's">overridden</Chip>}
        {def.inMemory && <Chip title="Lives in this process alone">in memory</Chip>}
        <div class="page-acts">
          {deeds.map(({ does, run, icon, kind }) => (
            <button key={does} type="button" class="button" data-kind={kind} onClick={run}>
              <Icon name={icon} /> {does}
            </button>
          ))}
        </div>
      </header>
      <dl class="figures">
        <Figure title="Next"><Time at={def.enabled ? def.nextExecutionTime : null} /></Figure>
        <div><dt>Last</dt><dd class="smaller"><LastRun def={def} /></dd></div>
        <div><dt>Type</dt><dd class="smaller"><a href={href('/types', { name: def.type })}>{def.type}</a></dd></div>
        <div>
          <dt>Runs</dt>
          <dd class="smaller">
            <a href={href('/runs', { search: textOf([{ name: 'def', value: def.name }]) })}>all of them</a>
          </dd>
        </div>
      </dl>
      <Tabs
        label={`Of ${def.name}`} first="schedule"
        tabs={[
          { name: 'schedule', title: 'Schedule', view: () => <ScheduleTab def={def} /> },
          { name: 'simulator', title: 'Simulator', view: () => <Simulator def={def} /> },
          { name: 'ticks', title: 'Past ticks', view: () => <TicksTab def={def} words={words} /> },
          { name: 'settings', title: 'Code and operator', view: () => <Settings def={def} /> },
          { name: 'history', title: 'Changes', view: () => <History def={def} /> },
        ]}
      />
      {isEditing && <EditDefinition def={def} onClose={() => setEditing(false)} onDone={reload} />}
    </>
  );
}

function ScheduleTab({ def: { name, version, schedules } }: { readonly def: DefView }): JSX.Element {
  const params = { name };
  const planned = useFresh(
    useAnswer((abort) => call('previewDef', { params, query: { count: plannedMax } }, abort), [name]), version,
  );
  const past = useFresh(useAnswer((abort) =>
    call('listTicks', { params, query: { limit: pastMax } }, abort), [name]), version);
  const error = planned.error ?? past.error;
  return (
    <div class="stack">
      <section class="card">
        <h2>Schedules</h2>
        {schedules.length === 0 && <p class="faint">None: it runs when somebody asks for it.</p>}
        <ul class="lines">
          {schedules.map(({ words, schedule, next }, index) => (
            <li key={index}>
              <b>{words}</b>
              <code class="faint">{'text' in schedule ? String(schedule['text']) : ''}</code>
              {(['gap', 'overlap'] as const).map((part) =>
                part in schedule && <Chip key={part}>{part} {String(schedule[part])}</Chip>)}
              <span class="number">next <Time at={next?.due ?? null} /></span>
            </li>
          ))}
        </ul>
      </section>
      {error !== null && <Failure error={error} onRetry={planned.reload} />}
      {error === null && (planned.data === null || past.data === null) && <Loading />}
      {planned.data !== null && past.data !== null && (
        <Calendar past={past.data.items} planned={planned.data.items} plannedMax={plannedMax} />
      )}
    </div>
  );
}

function TicksTab({ def, words }: { readonly def: DefView; readonly words: readonly string[] }): JSX.Element {
  return <Ticks ticks={useTicks(def.name, def.version)} words={words} />;
}

interface Deed extends Shortcut {
  readonly icon: 'play' | 'pause' | 'edit' | 'retry' | 'trash';
  readonly kind: 'primary' | 'danger' | undefined;
}

function deedsOf(def: DefView, reload: () => void, edit: () => void): readonly Deed[] {
  const { name } = def;
  const params = { name };
  const deed = (keys: string, does: string, icon: Deed['icon'], run: () => unknown, kind?: Deed['kind']): Deed =>
    ({ keys, does, icon, run: () => void run(), kind });
  const input = me.value?.seesPayloads === true ? { type: def.type, input: def.spec.params } : {};
  return [
    ...(!mayProduce.value || !def.spec.manualRuns ? [] : [
      deed('n', 'Run now', 'play', () => startRun({ def: name, ...input }), 'primary'),
    ]),
    ...(!mayOperate.value ? [] : [
      def.enabled
        ? deed('h', 'Disable', 'pause', () => disable(params, reload))
        : deed('h', 'Enable', 'play', () => enable(params, reload)),
      deed('e', 'Edit', 'edit', edit),
      ...(def.override === null ? [] : [deed('', 'Reset to the code', 'retry', () => reset(params, reload), 'danger')]),
      deed('', 'Delete', 'trash', () => remove(params), 'danger'),
    ]),
  ];
}

type Params = { readonly name: string };

async function enable(params: Params, reload: () => void): Promise<void> {
  const says = 'Its schedules go on from now. What fell due meanwhile is told as skipped.';
  const body = await confirm({ title: `Enable ${params.name}?`, says, verb: 'Enable' });
  if (body === null) return;
  await attempt(() => call('enableDef', { params, body }), () => `${params.name} is enabled`);
  reload();
}

async function disable(params: Params, reload: () => void): Promise<void> {
  const says = 'Its schedules stand still until it is enabled again. What runs now goes on.';
  const body = await confirm({ title: `Disable ${params.name}?`, says, verb: 'Disable' });
  if (body === null) return;
  await attempt(() => call('disableDef', { params, body }), () => `${params.name} is disabled`);
  reload();
}

async function reset(params: Params, reload: () => void): Promise<void> {
  const says = "The operator's word is taken back, and what the code says counts from now on.";
  const title = `Reset ${params.name} to the code?`;
  const query = await confirm({ title, says, verb: 'Reset', isDanger: true });
  if (query === null) return;
  await attempt(() => call('resetDef', { params, query }), () => `${params.name} is as the code says`);
  reload();
}

async function remove(params: Params): Promise<void> {
  const title = `Delete ${params.name}?`;
  const says = 'Its schedules end; its runs stay. What code declares comes back when an instance with it starts.';
  const query = await confirm({ title, says, verb: 'Delete', isDanger: true });
  if (query === null) return;
  const gone = await attempt(() => call('deleteDef', { params, query }), () => `${params.name} is deleted`);
  if (gone !== null) go('/definitions');
}
