/** The routes of alerts. */
import { z } from 'zod';
import { Act, DefParams, duration, name, pageFields, ReasonQuery, tags, why } from './requests.ts';
import { at, define, Items, operate, readers } from './route.ts';
import { count, instant } from './run-views.ts';
import { Nothing } from './views.ts';
import { standingWords } from './words.ts';

export const AlertView = z
  .object({
    name: z.string(),
    definitions: z.array(z.string()).meta({ description: 'patterns of the definitions whose runs are watched' }),
    types: z.array(z.string()).meta({ description: 'patterns of the types whose runs are watched' }),
    tags: tags.meta({ description: 'only runs with all of these tags are watched' }),
    when: z.string().meta({ description: 'such as failed 3 times in a row' }),
    to: z.string().meta({ description: 'the kind and the host of the target; the rest of it is not shown' }),
    recovered: z.boolean().meta({ description: 'whether a message is sent when all is well again' }),
    every: z.string().meta({ description: 'the shortest time between two messages' }),
    enabled: z.boolean(),
    isDeclared: z.boolean().meta({ description: 'whether code has declared it' }),
    override: z.object({ fields: z.array(z.string()), by: z.string().nullable(), why: z.string().nullable() }).nullable()
      .meta({ description: 'what operators have changed of an alert that code declares' }),
    failing: count.meta({ description: 'how many subjects are failing now' }),
    subjects: z.array(z.object({ subject: z.string(), since: instant, failures: count }))
      .meta({ description: 'up to 100 of the failing subjects: definitions, and types of runs without one' }),
    changes: count.meta({ description: 'how often the state of a subject has changed' }),
    messages: count,
    lastSentAt: instant.nullable(),
  })
  .meta({ id: 'Alert' });
export type AlertView = z.infer<typeof AlertView>;

export const SentAlertView = z
  .object({
    run: count.meta({ description: 'the id of the run that sends the message' }),
    at: instant,
    standing: z.enum(standingWords),
    attempts: count,
    error: z.string().nullable(),
    message: z.object({
      alert: z.string(),
      number: count,
      at: instant,
      isTest: z.boolean(),
      from: count.meta({ description: 'the first of the changes of state in the message' }),
      to: count.meta({ description: 'the last of them' }),
      failing: count,
      recovered: count,
      changes: z.array(z.object({
        subject: z.string(), isFailing: z.boolean(), change: count, count, at: instant, run: count.nullable(),
        error: z.string().nullable(),
      })).meta({ description: 'the last change of each subject; at most 20 subjects' }),
    }),
  })
  .meta({ id: 'SentAlert' });
export type SentAlertView = z.infer<typeof SentAlertView>;

const patterns = z.array(z.string().min(1).max(255)).max(100);
const url = z.string().min(1).max(2048);
const when = z.union([
  z.literal('failed'),
  z.strictObject({ failedInARow: z.number().int().min(1).max(1000) }),
  z.strictObject({ late: duration }),
  z.strictObject({ longerThan: duration }),
]);
const to = z.union([
  z.strictObject({ webhook: url }),
  z.strictObject({ slack: url }),
  z.strictObject({ smtp: url.meta({ description: 'smtps://user:password@host?from=…&to=…; smtp:// for STARTTLS' }) }),
]);
const optional = {
  definitions: patterns.optional(),
  types: patterns.optional().meta({ description: 'without any and without definitions: all runs' }),
  tags: tags.optional(),
  recovered: z.boolean().optional(),
  every: duration.optional(),
  enabled: z.boolean().optional(),
  why: why.optional(),
};
const AlertCreation = z.strictObject({ name, when, to, ...optional }).meta({ id: 'AlertCreation' });
const AlertChange = z.strictObject({ when: when.optional(), to: to.optional(), ...optional }).meta({ id: 'AlertChange' });

export const alertRouteTable = define({
  listAlerts: {
    method: 'get', path: at('/alerts'), roles: readers, summary: 'List alerts and their state',
    answer: Items('Alerts', AlertView),
  },
  createAlert: {
    method: 'post', path: at('/alerts'), roles: operate, status: 201, summary: 'Create an alert', body: AlertCreation,
    answer: AlertView,
  },
  getAlert: {
    method: 'get', path: at('/alerts/{name}'), roles: readers, summary: 'Get an alert', params: DefParams, answer: AlertView,
  },
  editAlert: {
    method: 'patch', path: at('/alerts/{name}'), roles: operate, summary: 'Change settings of an alert', params: DefParams,
    body: AlertChange, answer: AlertView,
  },
  deleteAlert: {
    method: 'delete', path: at('/alerts/{name}'), roles: operate, summary: 'Delete an alert', params: DefParams,
    query: ReasonQuery, answer: Nothing,
  },
  resetAlert: {
    method: 'delete', path: at('/alerts/{name}/override'), roles: operate,
    summary: 'Remove what operators have changed of an alert that code declares', params: DefParams, query: ReasonQuery,
    answer: AlertView,
  },
  testAlert: {
    method: 'post', path: at('/alerts/{name}/test'), roles: operate, status: 202,
    summary: 'Send a test message to the target of an alert', params: DefParams, body: Act,
    answer: z.object({ run: count.meta({ description: 'the id of the run that sends it' }) }).meta({ id: 'AlertTest' }),
  },
  listAlertMessages: {
    method: 'get', path: at('/alerts/{name}/messages'), roles: readers,
    summary: 'List the messages of an alert, newest first: those that were sent, and those that are to be sent',
    params: DefParams, query: z.strictObject({ after: pageFields.after, limit: pageFields.limit }).meta({ id: 'AlertMessagesQuery' }),
    answer: z.object({ items: z.array(SentAlertView), next: count.nullable() }).meta({ id: 'SentAlerts' }),
  },
});
