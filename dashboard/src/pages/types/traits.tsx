/** What is special about a job type, in a few words. */
import type { JSX } from 'preact';
import type { TypeView } from '../../../../src/http/contract.ts';
import { Chip } from '../../components/badge.tsx';

type Told = Pick<TypeView, 'hasTasks' | 'isolate' | 'onePerType' | 'isLocal' | 'instances'>;

export function Traits({ type }: { readonly type: Told }): JSX.Element {
  return (
    <>
      {type.hasTasks === true && <Chip title="Its runs are made of tasks">with tasks</Chip>}{' '}
      {type.isolate !== null && <Chip title="Runs apart: it can always be stopped">own {type.isolate}</Chip>}{' '}
      {type.onePerType && <Chip title="A second one is refused while one is under way">one at a time</Chip>}{' '}
      {!type.isLocal && type.instances.length > 0 && <Chip title="This server does not have its code">elsewhere</Chip>}
    </>
  );
}
