/** The input, result, plan and policy of a run. */
import type { JSX } from 'preact';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { JsonView } from '../../components/json-view.tsx';
import { me } from '../../state/session.ts';

export function PayloadTab({ run }: { readonly run: RunDetail }): JSX.Element {
  return (
    <div class="grid">
      {me.value?.seesPayloads === false && (
        <p class="faint">Values that look like secrets are hidden from your role.</p>
      )}
      <Part title="Input" value={run.input} none="No input" />
      <Part title="Result" value={run.result} none={run.state === 'ended' ? 'No result' : 'No result yet'} />
      {run.details !== null && <Part title="Plan" value={run.details} none="" />}
      <Part title="Policy" value={isEmpty(run.policy) ? null : run.policy} none="All settings have their defaults." />
    </div>
  );
}

const isEmpty = (policy: object): boolean => Object.keys(policy).length === 0;

interface PartProps {
  readonly title: string;
  readonly value: unknown;
  readonly none: string;
}

function Part({ title, value, none }: PartProps): JSX.Element {
  return (
    <section>
      <h2 class="part-title">{title}</h2>
      {value === null || value === undefined ? <p class="faint">{none}</p> : <JsonView value={value} label={title} />}
    </section>
  );
}
