/** The top bar: search, live switch, time format, theme, help and the signed-in user. */
import type { JSX } from 'preact';
import { connection, isLive, type Connection } from '../state/live.ts';
import { cycle, isDark, theme, themes, timeMode, timeModes } from '../state/preferences.ts';
import { me, signOut } from '../state/session.ts';
import { openHelp } from './help.tsx';
import { Icon } from './icon.tsx';
import { SearchField } from './search-field.tsx';
import { withToast } from './toast.tsx';

export function TopBar({ onMenu }: { readonly onMenu: () => void }): JSX.Element {
  return (
    <header class="top-bar">
      <button type="button" class="plain menu" aria-label="Menu" onClick={onMenu}><Icon name="menu" /></button>
      <SearchField />
      <LiveSwitch />
      <button
        type="button" class="plain worded" title="Format of times (t)" aria-label={`Times: ${timeMode.value}`}
        onClick={() => cycle(timeModes, timeMode)}
      >
        <Icon name="clock" /><span>{timeMode.value}</span>
      </button>
      <button
        type="button" class="plain" title={`Theme: ${theme.value} (d)`} aria-label={`Theme: ${theme.value}`}
        onClick={() => cycle(themes, theme)}
      >
        <Icon name={isDark.value ? 'moon' : 'sun'} />
      </button>
      <button
        type="button" class="plain keys-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)"
        onClick={openHelp}
      >
        <Icon name="question" />
      </button>
      <User />
    </header>
  );
}

function User(): JSX.Element | null {
  const user = me.value;
  if (user === null) return null;
  return (
    <span class="who" title={`${user.name}, ${user.role}`}>
      {user.name} <em>{user.role}</em>
      {!user.isLocal && <button type="button" class="link" onClick={() => void withToast(signOut)}>Sign out</button>}
    </span>
  );
}

const connectionTexts: Readonly<Record<Connection, string>> = {
  live: 'Live',
  connecting: 'Connecting…',
  polling: 'Reconnecting…',
  paused: 'Paused',
  hidden: 'Paused',
};

function LiveSwitch(): JSX.Element {
  return (
    <button
      type="button" class="live" role="switch" aria-checked={isLive.value} data-connection={connection.value}
      aria-label="Live" title="Live updates (p)" onClick={() => (isLive.value = !isLive.value)}
    >
      <i />
      <span>{connectionTexts[connection.value]}</span>
    </button>
  );
}
