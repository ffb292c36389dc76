/** The last run of a definition: its outcome and time. */
import type { JSX } from 'preact';
import type { DefView } from '../../../../src/http/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { lastOutcomeOf } from './labels.ts';

export function LastRun({ def }: { readonly def: DefView }): JSX.Element {
  const outcome = lastOutcomeOf(def);
  if (outcome === null || def.lastRun === null) return <span class="faint">Never</span>;
  return (
    <a class="last-run" href={href(`/runs/${def.lastRun}`)}>
      <Badge {...outcome} /> <Time at={def.lastExecuted} />
    </a>
  );
}
