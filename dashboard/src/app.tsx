/** The shell: navigation, top bar, dialogs and toasts around the current page. */
import { Component, type ComponentChildren, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { AnswerLink, answerLinkPath } from './answer-link.tsx';
import { needsSignIn } from './api.ts';
import { Confirmation } from './components/dialog.tsx';
import { Help, openHelp } from './components/help.tsx';
import { Navigation } from './components/navigation.tsx';
import { Forbidden } from './components/forbidden.tsx';
import { Empty, Failure } from './components/notice.tsx';
import { openPalette, Palette } from './components/palette.tsx';
import { PauseType } from './components/pause-type.tsx';
import { Resume } from './components/resume.tsx';
import { focusSearch } from './components/search-field.tsx';
import { SignIn } from './components/sign-in.tsx';
import { StartRun } from './components/start-run.tsx';
import { Toasts } from './components/toast.tsx';
import { TopBar } from './components/top-bar.tsx';
import { pages } from './pages/index.ts';
import { currentUrl, go, href, match } from './router.ts';
import { useShortcuts } from './state/keys.ts';
import { isLive } from './state/live.ts';
import { cycle, theme, themes, timeMode, timeModes } from './state/preferences.ts';
import { maySee, loadSession } from './state/session.ts';

export const App = (): JSX.Element => (currentUrl.value.path === answerLinkPath ? <AnswerLink /> : <Shell />);

function Shell(): JSX.Element {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    // A response with the status 401 opens the sign-in form instead of showing an error.
    void loadSession().catch((reason: unknown) => needsSignIn.peek() || setError(reason));
  }, []);
  useShellKeys();
  if (needsSignIn.value) return <SignIn />;
  return (
    <div class="shell">
      <a class="skip" href="#main">Skip to content</a>
      <Navigation pages={pages.filter(maySee)} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
      <div class="column">
        <TopBar onMenu={() => setMenuOpen(!isMenuOpen)} />
        <main id="main" tabIndex={-1}>
          {error !== null && <Failure error={error} onRetry={() => location.reload()} />}
          <CurrentPage />
        </main>
      </div>
      <StartRun />
      <PauseType />
      <Resume />
      <Confirmation />
      <Palette />
      <Help />
      <Toasts />
    </div>
  );
}

function CurrentPage(): JSX.Element {
  const { path } = currentUrl.value;
  for (const page of pages) {
    const { path: pattern, title, view: View } = page;
    const params = match(pattern, path);
    if (params === null) continue;
    document.title = `${title} · Stint`;
    if (!maySee(page)) return <Forbidden page={page} />;
    return <ErrorBoundary key={path}><View params={params} /></ErrorBoundary>;
  }
  return <Empty title="Page not found"><a href={href('/')}>Go to the overview</a>, or press g o.</Empty>;
}

/** Shows an error of one page in place of that page; the shell stays usable. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
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
    { keys: '/', label: 'Search', run: focusSearch },
    { keys: '?', label: 'Keyboard shortcuts', run: openHelp },
    { keys: ':', label: 'Command palette', run: openPalette, isKeyOnly: true },
    { keys: 'p', label: 'Pause or resume live updates', run: () => (isLive.value = !isLive.value) },
    { keys: 't', label: 'Times: relative, local, UTC', run: () => cycle(timeModes, timeMode) },
    { keys: 'd', label: 'Theme: system, light, dark', run: () => cycle(themes, theme) },
    ...pages.filter(maySee).flatMap(({ nav, title, path }) =>
      nav === undefined ? [] : [{ keys: `g ${nav.key}`, label: `Go to ${title}`, run: () => go(path) }]),
  ]);
}
