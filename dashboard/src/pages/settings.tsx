/** Settings: display preferences, the session, versions, the store, saved views and tokens. */
import type { JSX } from 'preact';
import { urlOf, call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Failure, Loading } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useResource } from '../state/resource.ts';
import { now } from '../state/clock.ts';
import { isLive, useChanges } from '../state/live.ts';
import { theme, themes, timeMode, timeModes } from '../state/preferences.ts';
import { savedViews, useLoadedViews, viewHref } from '../state/saved-views.ts';
import { mayAdminister, mayView, me, signOut } from '../state/session.ts';
import { plural, timestamp } from '../format.ts';
import { Store } from './settings/store.tsx';
import { Tokens } from './settings/tokens.tsx';

function Settings(): JSX.Element {
  return (
    <>
      <header class="page-head"><h1>Settings</h1></header>
      <div class="grid">
        <Display />
        <Session />
        <About />
        {mayView.value && <Store />}
        {mayView.value && <Views />}
        {mayAdminister.value && me.value?.isLocal === false && <Tokens />}
      </div>
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ label, values, value: current, onChange }: ChoiceProps<T>): JSX.Element {
  return (
    <div class="setting">
      <span>{label}</span>
      <div class="segments" role="group" aria-label={label}>
        {values.map((value) => (
          <button key={value} type="button" aria-pressed={value === current} onClick={() => onChange(value)}>
            {value}
          </button>
        ))}
      </div>
    </div>
  );
}

function Display(): JSX.Element {
  return (
    <section class="card">
      <h2>Display</h2>
      <Choice label="Theme" values={themes} value={theme.value} onChange={(value) => (theme.value = value)} />
      <Choice label="Times" values={timeModes} value={timeMode.value} onChange={(value) => (timeMode.value = value)} />
      <Choice
        label="Live updates" values={['live', 'paused']} value={isLive.value ? 'live' : 'paused'}
        onChange={(value) => (isLive.value = value === 'live')}
      />
      <p class="faint">
        Stored in this browser. The time is {timestamp(now.value, 'local')} local, {timestamp(now.value, 'UTC')} UTC.
      </p>
    </section>
  );
}

const roleTexts: Readonly<Record<string, string>> = {
  viewer: 'read everything',
  producer: 'start runs and read its own',
  worker: 'claim and execute jobs',
  operator: 'read everything, start runs, and change runs and definitions',
  admin: 'full access',
};

function Session(): JSX.Element {
  const user = me.value;
  return (
    <section class="card">
      <h2>Session</h2>
      {user === null ? <Loading /> : (
        <dl class="facts">
          <dt>Signed in as</dt><dd>{user.name}</dd>
          <dt>Role</dt><dd>{user.role}: <span class="faint">{roleTexts[user.role]}</span></dd>
          <dt>Payloads</dt><dd>{user.seesPayloads ? 'shown in full' : 'secrets hidden'}</dd>
          <dt>Priorities</dt><dd>{user.priorityMax === null ? 'all' : `up to ${user.priorityMax}`}</dd>
          <dt>Expires</dt><dd>{user.expires === null ? 'never' : <Time at={user.expires} />}</dd>
        </dl>
      )}
      {user?.isLocal === true && (
        <p class="faint">
          No tokens are set up: everyone on this machine has full access. Create one with{' '}
          <code>stint tokens create</code> before you open the server to others.
        </p>
      )}
      {user?.isLocal === false && (
        <p><button type="button" class="button" onClick={() => void withToast(signOut)}>Sign out</button></p>
      )}
    </section>
  );
}

function About(): JSX.Element {
  const health = useResource((abort) => call('health', {}, abort), []);
  const instances = useResource((abort) => call('listInstances', {}, abort), []);
  useChanges({ kind: ['def'] }, instances.reload);
  const alive = (instances.data?.items ?? []).filter(({ isAlive }) => isAlive);
  // Remote workers have no process of their own, and no version of Stint.
  const versions = [...Map.groupBy(alive.filter(({ pid }) => pid !== 0), ({ version }) => version)];
  return (
    <section class="card">
      <h2>About</h2>
      {health.error !== null && <Failure error={health.error} onRetry={health.reload} />}
      <dl class="facts">
        <dt>Stint</dt>
        <dd>
          {health.data?.version ?? '…'}{' '}
          {health.data && <Health status={health.data.status} />}
        </dd>
        <dt>Running versions</dt>
        <dd>
          {versions.map(([version, all]) => (
            <div key={version}>{version} <span class="faint">on {plural(all.length, 'instance')}</span></div>
          ))}
        </dd>
        <dt>API</dt>
        <dd><a href={urlOf('/api/v1/openapi.json')} target="_blank" rel="noreferrer">OpenAPI document</a></dd>
        <dt>Metrics</dt><dd><a href={urlOf('/metrics')} target="_blank" rel="noreferrer">Prometheus metrics</a></dd>
      </dl>
      {versions.length > 1 && (
        <p class="faint">Several versions are running. See <a href={href('/instances')}>Instances</a>.</p>
      )}
    </section>
  );
}

const Health = ({ status }: { readonly status: 'ok' | 'failing' }): JSX.Element =>
  <Badge status={status === 'ok' ? 'succeeded' : 'failed'} text={status} />;

function Views(): JSX.Element {
  useLoadedViews();
  return (
    <section class="card">
      <h2>Saved views</h2>
      {savedViews.value.length === 0 && (
        <p class="faint">
          No saved views. Filter a list, such as <a href={href('/runs')}>runs</a>, then choose “Save view”: everybody sees it.
        </p>
      )}
      <ul class="lines">
        {savedViews.value.map((view) => (
          <li key={view.name}>
            <a href={viewHref(view)}>{view.name}</a>{' '}
            <span class="faint">{view.page}, saved by {view.by}, <Time at={view.at} /></span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export const settingsPage: Page = {
  path: '/settings', title: 'Settings', view: Settings, needs: null,
  nav: { icon: 'settings', key: 's', group: 'Machine' },
};
