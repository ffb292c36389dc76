/**
 * The type `stint.alert`, which every engine has: sends the message of an alert to the alert's target. The target is read
 * when the message is sent, so that no run contains it, and a corrected target applies to messages that wait.
 */
import type { Context } from '../engine/handler/context.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { mailServerOf } from '../engine/declare/smtp-url.ts';
import { Fail, RetryAfter, TimedOut } from '../engine/handler/errors.ts';
import { errorText } from '../engine/handler/plain-text.ts';
import { readAlert } from '../jobs/alerts.ts';
import type { Jobs } from '../jobs.ts';
import { alertTypeName, type AlertMessage, type AlertTarget, type PendingChange } from '../model/alert.ts';
import { isRefusal } from '../refusal.ts';
import { Reach } from './address.ts';
import { systemResolve, type Outgoing } from './guarded-request.ts';
import { exchange } from './http.ts';
import { sendMail } from './mail.ts';

const timeoutMs = 30_000;
const errorBytesMax = 1_000;
/** The reply of a mail server that takes a mail. */
const mailAccepted = 250;

export function alertType(jobs: Jobs, allow: readonly string[]): JobType<AlertMessage, { readonly status: number }> {
  const route = { reach: new Reach(allow), resolve: systemResolve, keepsBody: true };
  return jobType(alertTypeName, {
    run: async (context) => {
      const message = context.input as AlertMessage;
      const to = await targetOf(jobs, message.alert);
      const given = { ...route, signal: context.signal, timeoutMs };
      return { status: await delivered(() => send(to, message, context, given), context.signal) };
    },
  });
}

/**
 * Sends the message; returns the status. Whatever prevents the delivery is retried, because the target may be corrected. What
 * the target answers is not stored, because it may repeat the URL, which may contain a secret.
 */
async function delivered(sending: () => Promise<number>, signal: AbortSignal): Promise<number> {
  try {
    return await sending();
  } catch (error) {
    if (signal.aborted || error instanceof RetryAfter || error instanceof TimedOut) throw error;
    throw new Error(errorText(error, errorBytesMax));
  }
}

type DeliveryRoute = Parameters<typeof exchange>[1];

async function send(to: AlertTarget, message: AlertMessage, context: Context, route: DeliveryRoute): Promise<number> {
  if ('smtp' in to) return mailed(to.smtp, message, context, route);
  const request = requestOf(to, message, context);
  const { status } = await exchange(request, route);
  if (status < 300) return status;
  throw new Error(`${request.url.host} responded with ${status}`);
}

async function mailed(url: string, message: AlertMessage, { idempotencyKey }: Context, route: DeliveryRoute): Promise<number> {
  const text = textOf(message);
  await sendMail(mailServerOf(url), { id: `${idempotencyKey}.${message.at}`, subject: text.split('\n')[0]!, text }, route);
  return mailAccepted;
}

async function targetOf({ store }: Jobs, name: string): Promise<AlertTarget> {
  try {
    return (await readAlert(store, name)).spec.to;
  } catch (error) {
    if (isRefusal(error) && error.code === 'unknown.alert') throw new Fail(`the alert ${name} was deleted`);
    throw error;
  }
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Slack would take `<!channel>` in the text of an error for a mention of everybody. */
const slackText = (text: string): string => text.replace(/[&<>]/g, (sign) => slackEntities[sign]!);

/**
 * Every attempt has the same `idempotency-key`. An attempt may reach its target and end in a crash; a receiver that must
 * not see the message twice compares the key.
 */
function requestOf(to: Exclude<AlertTarget, { readonly smtp: string }>, message: AlertMessage, { idempotencyKey }: Context): Outgoing {
  const [url, body] = 'webhook' in to
    ? [to.webhook, { id: idempotencyKey, ...message, text: textOf(message) }]
    : [to.slack, { text: slackText(textOf(message)) }];
  const headers = { 'user-agent': 'stint', 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
  return { method: 'POST', url: new URL(url), headers, body: JSON.stringify(body) };
}

/** The message as plain text: a heading, then a line per subject. */
export function textOf({ alert, isTest, failing, recovered, changes }: AlertMessage): string {
  if (isTest) return `Alert ${alert}: this is a test message`;
  const counts = [...(failing > 0 ? [`${failing} failing`] : []), ...(recovered > 0 ? [`${recovered} recovered`] : [])];
  const others = failing + recovered - changes.length;
  return [
    `Alert ${alert}: ${counts.join(', ')}`,
    ...changes.map(lineOf),
    ...(others > 0 ? [`and ${others} more`] : []),
  ].join('\n');
}

function lineOf({ subject, isFailing, count, run, error }: PendingChange): string {
  const details = [...(run === null ? [] : [`run ${run}`]), ...(count > 1 ? [`changed ${count} times`] : [])];
  const suffix = details.length > 0 ? ` (${details.join(', ')})` : '';
  return `- ${subject} ${isFailing ? 'is failing' : 'has recovered'}${suffix}${error === null ? '' : `: ${error}`}`;
}
