/** The shell: navigation and top bar around the page that the URL names. */
import { Component, type ComponentChildren, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isStranger } from './api.ts';
import { Confirmation } from './components/dialog.tsx';
import { Help, openHelp } from './components/help.tsx';
import { Navigation } from './components/navigation.tsx';
import { NotForYou } from './components/not-for-you.tsx';
import { Empty, Failure } from './components/notice.tsx';
import { openPalette, Palette } from './components/palette.tsx';
import { focusSearch } from './components/search-field.tsx';
import { SignIn } from './components/sign-in.tsx';
import { StartRun } from './components/start-run.tsx';
import { Toasts } from './components/toast.tsx';
import { TopBar } from './components/top-bar.tsx';
import { pages } from './pages/index.ts';
import { go, href, match, place } from './router.ts';
import { useShortcuts } from './state/keys.ts';
import { isLive } from './state/live.ts';
import { cycle, theme, themes, timeMode, timeModes } from './state/preferences.ts';
import { maySee, recognise } from './state/session.ts';

export function App(): JSX.Element {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  useEffect(() => {
    // A stranger is asked to sign in: that is no fault.
    void recognise().catch((error: unknown) => isStranger.peek() || setFault(error));
  }, []);
  useShellKeys();
  if (isStranger.value) return <SignIn />;
  return (
    <div class="shell">
      <a class="skip" href="#main">Skip to the page</a>
      <Navigation pages={pages.filter(maySee)} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
      <div class="column">
        <TopBar onMenu={() => setMenuOpen(!isMenuOpen)} />
        <main id="main" tabIndex={-1}>
          {fault !== null && <Failure error={fault} onRetry={() => location.reload()} />}
          <Current />
        </main>
      </div>
      <StartRun />
      <Confirmation />
      <Palette />
      <Help />
      <Toasts />
    </div>
  );
}

function Current(): JSX.Element {
  const { path } = place.value;
  for (const page of pages) {
    const { path: pattern, title, view: View } = page;
    const params = match(pattern, path);
    if (params === null) continue;
    document.title = `${title} · Stint`;
    if (!maySee(page)) return <NotForYou page={page} />;
    return <Guard key={path}><View params={params} /></Guard>;
  }
  return <Empty title="There is no such page"><a href={href('/')}>Go to the overview</a>, or press g o.</Empty>;
}

/** A fault of one page leaves the shell standing. */
class Guard extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Failure error={error} onRetry={() => this.setState({ error: null })} />;
  }
}

function useShellKeys(): void {
  useShortcuts([
    { keys: '/', does: 'Search', run: focusSearch },
    { keys: '?', does: 'Show the keys', run: openHelp },
    { keys: ':', does: 'Go to, or do', run: openPalette, isOnlyKey: true },
    { keys: 'p', does: 'Live or paused', run: () => (isLive.value = !isLive.value) },
    { keys: 't', does: 'Times: relative, local, UTC', run: () => cycle(timeModes, timeMode) },
    { keys: 'd', does: 'Theme: system, light, dark', run: () => cycle(themes, theme) },
    ...pages.filter(maySee).flatMap(({ nav, title, path }) =>
      nav === undefined ? [] : [{ keys: `g ${nav.key}`, does: `Go to ${title}`, run: () => go(path) }]),
  ]);
}
