/** The page of events: what can happen to a job, and what is told of it. */
import { fieldsOf, kindsOf } from './declarations.ts';
import { code, page, sentence, table } from './markdown.ts';

const source = 'src/model/event.ts';

export const eventsPage = (): string =>
  page(
    'Events',
    `
    Every change of a job leaves an event in the same transaction; folding the events of a job gives the job. They
    are read by \`run.events()\`, \`engine.events()\`, \`stint runs events\`, \`stint events tail\`, \`GET
    /api/v1/runs/{id}/events\` and the stream.
    `,
    '## What every event has',
    table(
      ['field', 'what it says'],
      fieldsOf(source, 'Stamp').map(({ name, isOptional, says }) => [
        code(name) + (isOptional ? '?' : ''), sentence(says),
      ]),
    ),
    '## Kinds',
    table(
      ['kind', 'what happened', 'it also tells'],
      kindsOf(source, 'EventBody').map(({ kind, fields, says }) => [
        code(kind), sentence(says), fields.map(code).join(', '),
      ]),
    ),
  );
