/** One definition: its schedules, ticks, settings and history, and the actions on it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Badge, Chip } from '../../components/badge.tsx';
import { Figure } from '../../components/figure.tsx';
import { Icon } from '../../components/icon.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { textOf } from '../../search.ts';
import { useShortcuts } from '../../state/keys.ts';
import { useChanges } from '../../state/live.ts';
import { useResource } from '../../state/resource.ts';
import { actionsOf, type DefinitionAction, type DefinitionDialog } from './actions.ts';
import { Backfill } from './backfill.tsx';
import { Calendar } from './calendar.tsx';
import { EditDefinition } from './edit.tsx';
import { History } from './history.tsx';
import { followTexts, statusOf } from './labels.ts';
import { LastRun } from './last-run.tsx';
import { useReloadOnVersion } from './reload-on-version.ts';
import { RenameDefinition } from './rename.tsx';
import { Settings } from './settings.tsx';
import { Simulator } from './simulator.tsx';
import { Ticks, useTicks } from './ticks.tsx';

const plannedMax = 1000;
const pastMax = 1000;

export function DefPage({ name }: { readonly name: string }): JSX.Element {
  const def = useResource((abort) => call('getDef', { params: { name } }, abort), [name]);
  useChanges({ kind: ['def', 'run'] }, def.reload);
  return (
    <>
      <BackLink path="/definitions" title="Definitions" />
      {def.error !== null && <Failure error={def.error} onRetry={def.reload} />}
      {def.data === null && def.error === null && <Loading />}
      {def.data !== null && <Definition def={def.data} reload={def.reload} />}
    </>
  );
}

interface DefinitionProps {
  readonly def: DefView;
  readonly reload: () => void;
}

function Definition({ def, reload }: DefinitionProps): JSX.Element {
  const [dialog, setDialog] = useState<DefinitionDialog | null>(null);
  const close = (): void => setDialog(null);
  const actions = actionsOf(def, reload, setDialog);
  useShortcuts(actions);
  return (
    <>
      <Head def={def} actions={actions} />
      <Figures def={def} />
      <Tabs
        label={def.name} first="schedule"
        tabs={[
          { name: 'schedule', title: 'Schedule', view: () => <ScheduleTab def={def} /> },
          { name: 'simulator', title: 'Simulator', view: () => <Simulator def={def} /> },
          { name: 'ticks', title: 'Past ticks', view: () => <TicksTab def={def} /> },
          { name: 'backfill', title: 'Backfill', view: () => <Backfill def={def} /> },
          { name: 'settings', title: 'Overrides', view: () => <Settings def={def} /> },
          { name: 'history', title: 'Changes', view: () => <History def={def} /> },
        ]}
      />
      {dialog === 'edit' && <EditDefinition def={def} onClose={close} onDone={reload} />}
      {(dialog === 'clone' || dialog === 'rename') && (
        <RenameDefinition def={def} isClone={dialog === 'clone'} onClose={close} />
      )}
    </>
  );
}

interface HeadProps {
  readonly def: DefView;
  readonly actions: readonly DefinitionAction[];
}

function Head({ def, actions }: HeadProps): JSX.Element {
  return (
    <header class="page-head">
      <h1>{def.name}</h1>
      <Badge {...statusOf(def)} />
      {def.override !== null && <Chip title="An operator changed some settings">overridden</Chip>}
      {def.inMemory && <Chip title="Stored in this process only; lost when it stops">in memory</Chip>}
      {def.undeclared && <Chip title="No running instance declares it any more">undeclared</Chip>}
      <div class="page-actions">
        {actions.map(({ label, run, icon, kind }) => (
          <button key={label} type="button" class="button" data-kind={kind} onClick={run}>
            <Icon name={icon} /> {label}
          </button>
        ))}
      </div>
    </header>
  );
}

function Figures({ def }: { readonly def: DefView }): JSX.Element {
  const runs = href('/runs', { search: textOf([{ name: 'def', value: def.name }]) });
  return (
    <dl class="figures">
      <Figure title="Next run"><Time at={def.enabled ? def.nextExecutionTime : null} /></Figure>
      <div><dt>Last run</dt><dd class="smaller"><LastRun def={def} /></dd></div>
      <div><dt>Type</dt><dd class="smaller"><a href={href('/types', { name: def.type })}>{def.type}</a></dd></div>
      <div><dt>Runs</dt><dd class="smaller"><a href={runs}>View runs</a></dd></div>
    </dl>
  );
}

function ScheduleTab({ def }: { readonly def: DefView }): JSX.Element {
  const { name, version } = def;
  const params = { name };
  const planned = useReloadOnVersion(
    useResource((abort) => call('previewDef', { params, query: { count: plannedMax } }, abort), [name]), version,
  );
  const past = useReloadOnVersion(useResource((abort) =>
    call('listTicks', { params, query: { limit: pastMax } }, abort), [name]), version);
  const error = planned.error ?? past.error;
  return (
    <div class="stack">
      <ScheduleList {...def} />
      <Following {...def} />
      {error !== null && <Failure error={error} onRetry={planned.reload} />}
      {error === null && (planned.data === null || past.data === null) && <Loading />}
      {planned.data !== null && past.data !== null && (
        <Calendar past={past.data.items} planned={planned.data.items} plannedMax={plannedMax} />
      )}
    </div>
  );
}

function ScheduleList({ schedules, spec }: DefView): JSX.Element | null {
  if (spec.after !== undefined) return null;
  return (
    <section class="card">
      <h2>Schedules</h2>
      {schedules.length === 0 && <p class="faint">No schedule. It runs only when you start it.</p>}
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
  );
}

function Following({ spec: { after = [], on = 'succeeded', afterFailure }, followers }: DefView): JSX.Element | null {
  if (after.length === 0 && followers.length === 0) return null;
  const rule = afterFailure === 'wait' ? 'wait' : afterFailure === 'run' ? 'ended' : on;
  return (
    <section class="card">
      <h2>Sequence</h2>
      <dl class="facts">
        {after.length > 0 && <><dt>Follows</dt><dd><Names names={after} /> <span class="faint">{followTexts[rule]}</span></dd></>}
        {followers.length > 0 && <><dt>Followed by</dt><dd><Names names={followers} /></dd></>}
      </dl>
    </section>
  );
}

function Names({ names }: { readonly names: readonly string[] }): JSX.Element {
  return (
    <>
      {names.map((name, index) => (
        <span key={name}>{index > 0 && ', '}<a href={href('/definitions', { name })}>{name}</a></span>
      ))}
    </>
  );
}

function TicksTab({ def }: { readonly def: DefView }): JSX.Element {
  return <Ticks ticks={useTicks(def.name, def.version)} schedules={def.schedules.map(({ words }) => words)} />;
}
