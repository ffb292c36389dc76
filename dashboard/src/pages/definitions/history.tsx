/** The changes of a definition: the actor, time and reason of each. */
import type { JSX } from 'preact';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { number } from '../../format.ts';
import { useResource } from '../../state/resource.ts';
import { useReloadOnVersion } from './reload-on-version.ts';

const eventsMax = 1000;

const eventTexts: Readonly<Record<string, string>> = {
  created: 'created', paused: 'disabled', resumed: 'enabled', edited: 'changed', cancelled: 'deleted',
  reopened: 'created again',
};

export function History({ def: { id, version } }: { readonly def: DefView }): JSX.Element {
  const from = Math.max(1, version - eventsMax + 1);
  const events = useReloadOnVersion(
    useResource((abort) => call('listEvents', { params: { id }, query: { from, limit: eventsMax } }, abort), [id]),
    version,
  );
  if (events.error !== null) return <Failure error={events.error} onRetry={events.reload} />;
  if (events.data === null) return <Loading />;
  const changes = events.data.items.filter(({ kind }) => kind !== 'ticked').toReversed();
  if (changes.length === 0) {
    return <Empty title="No recent changes" icon="edit">The newest {number(eventsMax)} events are all ticks.</Empty>;
  }
  return (
    <ol class="lines">
      {changes.map((event) => (
        <li key={event.n}>
          <Time at={event.at} /> <b>{eventTexts[event.kind] ?? event.kind}</b> <span>by {event.by}</span>
          {event.why !== null && <span class="faint">“{event.why}”</span>}
        </li>
      ))}
    </ol>
  );
}
