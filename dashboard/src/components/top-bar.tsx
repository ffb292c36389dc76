/** The top bar: search, the live switch, how times are told, the theme, and who is looking. */
import type { JSX } from 'preact';
import { connection, isLive, type Connection } from '../state/live.ts';
import { cycle, isDark, theme, themes, timeMode, timeModes } from '../state/preferences.ts';
import { me, signOut } from '../state/session.ts';
import { openHelp } from './help.tsx';
import { Icon } from './icon.tsx';
import { SearchField } from './search-field.tsx';
import { attempt } from './toast.tsx';

export function TopBar({ onMenu }: { readonly onMenu: () => void }): JSX.Element {
  const who = me.value;
  return (
    <header class="top-bar">
      <button type="button" class="plain menu" aria-label="Menu" onClick={onMenu}><Icon name="menu" /></button>
      <SearchField />
      <LiveSwitch />
      <button
        type="button" class="plain worded" title="How times are told (t)" aria-label={`Times: ${timeMode.value}`}
        onClick={() => cycle(timeModes, timeMode)}
      >
        <Icon name="clock" /><span>{timeMode.value}</span>
      </button>
      <button
        type="button" class="plain" title={`Theme: ${theme.value}`} aria-label={`Theme: ${theme.value}`}
        onClick={() => cycle(themes, theme)}
      >
        <Icon name={isDark.value ? 'moon' : 'sun'} />
      </button>
      <button type="button" class="plain keys-button" aria-label="Keys" title="Keys (?)" onClick={openHelp}>
        <Icon name="question" />
      </button>
      {who !== null && (
        <span class="who" title={`${who.name}, ${who.role}`}>
          {who.name} <em>{who.role}</em>
          {!who.isLocal && <button type="button" class="link" onClick={() => void attempt(signOut)}>Sign out</button>}
        </span>
      )}
    </header>
  );
}

const says: Readonly<Record<Connection, string>> = {
  live: 'Live',
  connecting: 'Connecting',
  polling: 'Every 5 s',
  paused: 'Paused',
  hidden: 'Paused',
};

function LiveSwitch(): JSX.Element {
  return (
    <button
      type="button" class="live" role="switch" aria-checked={isLive.value} data-connection={connection.value}
      aria-label="Live" title="Follow what changes (p)" onClick={() => (isLive.value = !isLive.value)}
    >
      <i />
      <span>{says[connection.value]}</span>
    </button>
  );
}
