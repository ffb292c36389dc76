/** What went into a run and what came out. */
import type { JSX } from 'preact';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { JsonView } from '../../components/json-view.tsx';
import { me } from '../../state/session.ts';

export function PayloadTab({ run }: { readonly run: RunDetail }): JSX.Element {
  return (
    <div class="grid">
      {me.value?.seesPayloads === false && (
        <p class="faint">Your role sees payloads without what looks like a secret.</p>
      )}
      <Part title="Input" value={run.input} none="It was started without one." />
      <Part title="Result" value={run.result} none={run.state === 'ended' ? 'It gave none.' : 'It has not ended.'} />
      {run.details !== null && <Part title="Details of its plan" value={run.details} none="" />}
      <Part title="Policy" value={run.policy} none="" />
    </div>
  );
}

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
