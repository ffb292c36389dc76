/** Why a run is not running: all reasons, the most important first. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { JsonView } from '../../components/json-view.tsx';
import { Failure, Loading, sentence } from '../../components/notice.tsx';
import { useResource } from '../../state/resource.ts';

export function ExplainTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const reasons = useResource((abort) => call('explainRun', { params: { id: run.id } }, abort), [run.id]);
  useEffect(() => reasons.reload(), [run.version]);
  if (reasons.error !== null) return <Failure error={reasons.error} onRetry={reasons.reload} />;
  if (reasons.data === null) return <Loading />;
  return (
    <ol class="stack reasons">
      {reasons.data.items.map(({ code, says, detail }) => (
        <li key={code} class="card">
          <p><strong>{fullSentence(says)}</strong> <code class="faint">{code}</code></p>
          {detail !== undefined && <JsonView value={detail} label={`Details of ${code}`} />}
        </li>
      ))}
    </ol>
  );
}

/** Adds the capital letter and the full stop, which messages of the API do not have. */
export const fullSentence = (text: string): string => `${sentence(text)}.`;
