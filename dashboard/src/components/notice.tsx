/** What to say when there is nothing, when something is awaited, and when it went wrong: each says what to do. */
import type { ComponentChildren, JSX } from 'preact';
import { ApiProblem, sentenceOf } from '../problem.ts';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly title: string;
  readonly icon?: IconName;
  /** What to do about it. */
  readonly children?: ComponentChildren;
}

export function Empty({ title, icon = 'runs', children }: EmptyProps): JSX.Element {
  return (
    <div class="notice" data-kind="empty">
      <Icon name={icon} />
      <strong>{title}</strong>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

export function Loading(): JSX.Element {
  return <div class="loading" role="status"><span class="reader-only">Loading</span><i /><i /><i /></div>;
}

export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): JSX.Element {
  return (
    <div class="notice" data-kind="error" role="alert">
      <Icon name="failures" />
      <strong>{sentenceOf(error)}</strong>
      <p>{adviceFor(error)}</p>
      {onRetry && <button type="button" class="button" onClick={onRetry}>Try again</button>}
    </div>
  );
}

function adviceFor(error: unknown): string {
  if (!(error instanceof ApiProblem)) return 'This is a fault of the dashboard: please report what you did.';
  if (error.status === 0) return 'Is it running, and can this machine reach it?';
  if (error.status === 403) return 'Your role does not allow it: sign in with another token, or ask an admin for one.';
  if (error.status === 404) return 'It may have been deleted, or its time of keeping is over.';
  if (error.status === 429) return 'Too much is asked of the server now: wait a little.';
  if (error.trace !== null) return `The server's log tells more under ${error.trace}.`;
  return error.status >= 500 ? "The server's log tells more." : `The server refused it: ${error.code}.`;
}
