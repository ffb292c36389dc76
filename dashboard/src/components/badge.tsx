/** Badges: a status as icon, text and colour. */
import type { ComponentChildren, JSX } from 'preact';
import type { RunView } from '../../../src/http/contract.ts';
import { now } from '../state/clock.ts';
import { statusLabel, type Status } from '../state/run-status.ts';
import { Icon } from './icon.tsx';

interface BadgeProps {
  readonly status: Status;
  readonly text?: string;
  readonly title?: string;
}

export function Badge({ status, text = status, title }: BadgeProps): JSX.Element {
  return (
    <span class="badge" data-status={status} title={title}>
      <Icon name={status} />
      {text}
    </span>
  );
}

type RunBadgeFields = Parameters<typeof statusLabel>[0] & Pick<RunView, 'cancel'>;

export function RunBadge({ run }: { readonly run: RunBadgeFields }): JSX.Element {
  return <Badge {...statusLabel(run, now.value)} title={run.cancel?.why ?? undefined!} />;
}

/** A small label, such as a tag or "in memory". */
export function Chip({ children, title }: { children: ComponentChildren; readonly title?: string }): JSX.Element {
  return <span class="chip" title={title}>{children}</span>;
}
