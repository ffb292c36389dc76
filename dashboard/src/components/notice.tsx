/** Notices: nothing to show, loading, and an error. Empty lists and errors say what the user can do. */
import type { ComponentChildren, JSX } from 'preact';
import { ApiProblem, messageOf } from '../problem.ts';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly title: string;
  readonly icon?: IconName;
  /** What the user can do. */
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
      <strong>{sentence(messageOf(error))}</strong>
      <p>{adviceFor(error)}</p>
      {onRetry && <button type="button" class="button" onClick={onRetry}>Try again</button>}
    </div>
  );
}

/** Capitalizes a message of the API, which begins with a lower-case letter. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function adviceFor(error: unknown): string {
  if (!(error instanceof ApiProblem)) return 'This is a bug in the dashboard. Please report what you did.';
  if (error.status === 0) return 'Check that it is running and that this machine can reach it.';
  if (error.status === 403) return 'Your role does not allow this. Ask an administrator for another token.';
  if (error.status === 404) return 'If it existed before, it was deleted or has expired.';
  if (error.status === 429) return 'The server is receiving too many requests. Wait a moment.';
  if (error.trace !== null) return `See the server log, trace ${error.trace}.`;
  return error.status >= 500 ? 'See the server log.' : `The server refused the request: ${error.code}.`;
}
