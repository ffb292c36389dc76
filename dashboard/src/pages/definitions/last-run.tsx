/** The last run of a definition: how it went and when. */
import type { JSX } from 'preact';
import type { DefView } from '../../../../src/http/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { lastOf } from './words.ts';

export function LastRun({ def }: { readonly def: DefView }): JSX.Element {
  const told = lastOf(def);
  if (told === null || def.lastRun === null) return <span class="faint">not yet</span>;
  return (
    <a class="last-run" href={href(`/runs/${def.lastRun}`)}>
      <Badge {...told} /> <Time at={def.lastExecuted} />
    </a>
  );
}
