/** The special traits of a job type, as chips. */
import type { JSX } from 'preact';
import type { TypeView } from '../../../../src/http/contract.ts';
import { Chip } from '../../components/badge.tsx';

type TraitFields = Pick<TypeView, 'hasTasks' | 'isolate' | 'batch' | 'onePerType' | 'isLocal' | 'instances'>;

export function Traits({ type }: { readonly type: TraitFields }): JSX.Element {
  return (
    <>
      {type.hasTasks === true && <Chip title="Its runs are split into tasks">tasks</Chip>}{' '}
      {type.isolate !== null && <Chip title="Isolated: it can always be stopped">{type.isolate}</Chip>}{' '}
      {type.batch !== null && <Chip title={`One call handles up to ${type.batch.size} jobs`}>batches</Chip>}{' '}
      {type.onePerType && <Chip title="A second run is refused while one is open">one per type</Chip>}{' '}
      {!type.isLocal && type.instances.length > 0 && (
        <Chip title="This server does not have its code">other instances</Chip>
      )}
    </>
  );
}
