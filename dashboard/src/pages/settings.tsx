/** Settings: how this browser shows things, who is signed in, who else may, and what is running here. */
import type { JSX } from 'preact';
import { addressOf, call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Icon } from '../components/icon.tsx';
import { Failure, Loading } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { attempt } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { now } from '../state/clock.ts';
import { isLive, useChanges } from '../state/live.ts';
import { theme, themes, timeMode, timeModes } from '../state/preferences.ts';
import { forgetView, savedViews } from '../state/saved-views.ts';
import { mayAdminister, me, signOut } from '../state/session.ts';
import { plural, stamp } from '../words.ts';
import { Tokens } from './settings/tokens.tsx';

function Settings(): JSX.Element {
  return (
    <>
      <header class="page-head"><h1>Settings</h1></header>
      <div class="grid">
        <Display />
        <Session />
        <About />
        <Views />
        {mayAdminister.value && me.value?.isLocal === false && <Tokens />}
      </div>
    </>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly chosen: T;
  readonly onChoose: (value: T) => void;
}

function Choice<T extends string>({ label, values, chosen, onChoose }: ChoiceProps<T>): JSX.Element {
  return (
    <div class="setting">
      <span>{label}</span>
      <div class="segments" role="group" aria-label={label}>
        {values.map((value) => (
          <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
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
      <Choice label="Theme" values={themes} chosen={theme.value} onChoose={(value) => (theme.value = value)} />
      <Choice label="Times" values={timeModes} chosen={timeMode.value} onChoose={(value) => (timeMode.value = value)} />
      <Choice
        label="Follow what changes" values={['live', 'paused']} chosen={isLive.value ? 'live' : 'paused'}
        onChoose={(value) => (isLive.value = value === 'live')}
      />
      <p class="faint">
        Kept in this browser. Now it is {stamp(now.value, 'local')} here and {stamp(now.value, 'UTC')} UTC.
      </p>
    </section>
  );
}

const mays: Readonly<Record<string, string>> = {
  viewer: 'look at everything',
  producer: 'start runs and look at its own',
  worker: 'take work',
  operator: 'look, start, and operate on runs and definitions',
  admin: 'everything',
};

function Session(): JSX.Element {
  const who = me.value;
  return (
    <section class="card">
      <h2>Session</h2>
      {who === null ? <Loading /> : (
        <dl class="facts">
          <dt>Signed in as</dt><dd>{who.name}</dd>
          <dt>Role</dt><dd>{who.role} <span class="faint">may {mays[who.role]}</span></dd>
          <dt>Payloads</dt><dd>{who.seesPayloads ? 'shown as they are' : 'shown without secrets'}</dd>
          <dt>Until</dt><dd>{who.expires === null ? 'no end' : <Time at={who.expires} />}</dd>
        </dl>
      )}
      {who?.isLocal === true && (
        <p class="faint">
          No tokens are set up, so whoever is on this machine may do everything. Make one with{' '}
          <code>stint tokens create</code> before others can reach it.
        </p>
      )}
      {who?.isLocal === false && (
        <p><button type="button" class="button" onClick={() => void attempt(signOut)}>Sign out</button></p>
      )}
    </section>
  );
}

function About(): JSX.Element {
  const health = useAnswer((abort) => call('health', {}, abort), []);
  const instances = useAnswer((abort) => call('listInstances', {}, abort), []);
  useChanges({ kind: ['def'] }, instances.reload);
  const alive = (instances.data?.items ?? []).filter(({ isAlive }) => isAlive);
  const versions = [...Map.groupBy(alive, ({ version }) => version)];
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
        <dt>Versions at work</dt>
        <dd>
          {versions.map(([version, all]) => (
            <div key={version}>{version} <span class="faint">on {plural(all.length, 'instance')}</span></div>
          ))}
        </dd>
        <dt>API</dt>
        <dd><a href={addressOf('/api/v1/openapi.json')} target="_blank" rel="noreferrer">OpenAPI document</a></dd>
        <dt>Figures</dt><dd><a href={addressOf('/metrics')} target="_blank" rel="noreferrer">Prometheus metrics</a></dd>
      </dl>
      {versions.length > 1 && (
        <p class="faint">Several versions are at work: see <a href={href('/instances')}>instances</a>.</p>
      )}
    </section>
  );
}

const Health = ({ status }: { readonly status: 'ok' | 'failing' }): JSX.Element =>
  <Badge look={status === 'ok' ? 'succeeded' : 'failed'} word={status} />;

function Views(): JSX.Element {
  return (
    <section class="card">
      <h2>Saved views</h2>
      {savedViews.value.length === 0 && (
        <p class="faint">
          None: search <a href={href('/runs')}>runs</a>, then save the view. A view can also be passed on by its URL.
        </p>
      )}
      <ul class="lines">
        {savedViews.value.map(({ name, search }) => (
          <li key={name}>
            <a href={href('/runs', { search })}>{name}</a> <code class="faint">{search}</code>
            <button type="button" class="plain" aria-label={`Forget the view ${name}`} onClick={() => forgetView(name)}>
              <Icon name="trash" />
            </button>
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
