/** The history of a run: every event with who did it and why. */
import type { JSX } from 'preact';
import type { EventView, RunDetail } from '../../../../src/http/contract.ts';
import { Icon } from '../../components/icon.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Time } from '../../components/time.tsx';
import { exactText } from '../../exact-json.ts';
import { plural } from '../../words.ts';
import { download } from '../runs/export.ts';

interface EventsTabProps {
  readonly run: RunDetail;
  readonly events: readonly EventView[];
}

export function EventsTab({ run, events }: EventsTabProps): JSX.Element {
  const save = (): void => download(`run-${run.id}-events.json`, exactText(events), 'application/json');
  return (
    <section>
      <p class="tab-head">
        <span class="faint">
          {plural(events.length, 'event')}, the first of which created it. Folded, they give the run.
        </span>
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
      <b>{words[kind] ?? kind}</b>
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

const words: Readonly<Record<string, string>> = {
  created: 'Created',
  claimed: 'Claimed',
  released: 'Given back',
  lapsed: 'Lease lapsed',
  retried: 'Failed, to be tried again',
  handedOff: 'Handed off',
  planned: 'Planned its tasks',
  adopted: 'Took in tasks',
  settled: 'All tasks are through',
  freed: 'Let go by its parent',
  paused: 'Paused',
  resumed: 'Resumed',
  cancelAsked: 'Asked to give up',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  repeated: 'Due again by its rule',
  reopened: 'Opened again',
  edited: 'Edited',
};
