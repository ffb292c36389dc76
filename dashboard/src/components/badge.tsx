/** Badges: how something stands, by icon and word and only then by colour. */
import type { ComponentChildren, JSX } from 'preact';
import type { RunView } from '../../../src/http/contract.ts';
import { now } from '../state/clock.ts';
import { tell, type Look } from '../state/run-words.ts';
import { Icon } from './icon.tsx';

interface BadgeProps {
  readonly look: Look;
  readonly word?: string;
  readonly title?: string;
}

export function Badge({ look, word = look, title }: BadgeProps): JSX.Element {
  return (
    <span class="badge" data-look={look} title={title}>
      <Icon name={look} />
      {word}
    </span>
  );
}

export function RunBadge({ run }: { readonly run: Parameters<typeof tell>[0] & Pick<RunView, 'cancel'> }): JSX.Element {
  const { look, word } = tell(run, now.value);
  return <Badge look={look} word={word} title={run.cancel?.why ?? undefined!} />;
}

/** A small remark, such as a tag or "in memory". */
export function Chip({ children, title }: { children: ComponentChildren; readonly title?: string }): JSX.Element {
  return <span class="chip" title={title}>{children}</span>;
}
