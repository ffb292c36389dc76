/** The history of a run: its events, with actor and reason. */
import type { JSX } from 'preact';
import type { EventView, RunDetail } from '../../../../src/http/contract.ts';
import { Icon } from '../../components/icon.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Time } from '../../components/time.tsx';
import { exactText } from '../../exact-json.ts';
import { plural } from '../../format.ts';
import { download } from '../../download.ts';

interface EventsTabProps {
  readonly run: RunDetail;
  readonly events: readonly EventView[];
}

export function EventsTab({ run, events }: EventsTabProps): JSX.Element {
  const save = (): void => download(`run-${run.id}-events.json`, exactText(events), 'application/json');
  return (
    <section>
      <p class="tab-head">
        <span class="faint">{plural(events.length, 'event')}</span>
        <button type="button" class="button" onClick={save}><Icon name="export" /> Download</button>
      </p>
      <ol class="events">
        {events.map((event) => <EventRow key={event.n} event={event} />)}
      </ol>
    </section>
  );
}

function EventRow({ event }: { readonly event: EventView }): JSX.Element {
  const { n, at, by, why, kind, data } = event;
  return (
    <li>
      <span class="event-n">{n}</span>
      <Time at={at} isExact />
      <b>{eventTexts[kind] ?? kind}</b>
      <span class="faint mono">{by}</span>
      {why !== null && <q>{why}</q>}
      {Object.keys(data).length > 0 && (
        <details>
          <summary>{Object.keys(data).join(', ')}</summary>
          <JsonView value={data} label={`Data of event ${n}`} />
        </details>
      )}
    </li>
  );
}

const eventTexts: Readonly<Record<string, string>> = {
  created: 'Created',
  claimed: 'Claimed',
  released: 'Released',
  slept: 'Fell asleep',
  answered: 'Answered',
  unanswered: 'Not answered',
  lapsed: 'Lease lapsed',
  retried: 'Failed, will be retried',
  handedOff: 'Handed off',
  planned: 'Tasks planned',
  adopted: 'Tasks adopted',
  settled: 'All tasks ended',
  freed: 'Released by its parent',
  paused: 'Paused',
  resumed: 'Resumed',
  cancelAsked: 'Cancel requested',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  repeated: 'Repeated',
  reopened: 'Reopened for a retry',
  edited: 'Edited',
};
