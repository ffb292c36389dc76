/**
 * The type `stint.alert`, which every engine has: sends the message of an alert to the alert's target. The target is read
 * when the message is sent, so that no run contains it, and a corrected target applies to messages that wait.
 */
import type { Context } from '../engine/handler/context.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { Fail } from '../engine/handler/errors.ts';
import { alertTypeName } from '../jobs/alert-watch.ts';
import { readAlert } from '../jobs/alerts.ts';
import type { Jobs } from '../jobs.ts';
import type { AlertMessage, AlertTarget, PendingChange } from '../model/alert.ts';
import { isRefusal } from '../refusal.ts';
import { Reach } from './address.ts';
import { systemResolve } from './guarded-request.ts';
import { exchange } from './http.ts';

const timeoutMs = 30_000;

export function alertType(jobs: Jobs, allow: readonly string[]): JobType<AlertMessage, { readonly status: number }> {
  const route = { reach: new Reach(allow), resolve: systemResolve };
  return jobType(alertTypeName, {
    run: async (context) => {
      const message = context.input as AlertMessage;
      const to = await targetOf(jobs, message.alert);
      const { status } = await exchange(requestOf(to, message, context), { ...route, signal: context.signal, timeoutMs });
      return { status };
    },
  });
}

async function targetOf({ store }: Jobs, name: string): Promise<AlertTarget> {
  try {
    return (await readAlert(store, name)).spec.to;
  } catch (error) {
    if (isRefusal(error) && error.code === 'unknown.alert') throw new Fail(`the alert ${name} was deleted`);
    throw error;
  }
}

/**
 * Every attempt has the same `idempotency-key`. An attempt may reach its target and end in a crash; a receiver that must
 * not see the message twice compares the key.
 */
function requestOf(to: AlertTarget, message: AlertMessage, { idempotencyKey }: Context) {
  const [url, body] = 'webhook' in to
    ? [to.webhook, { id: idempotencyKey, ...message, text: textOf(message) }]
    : [to.slack, { text: textOf(message) }];
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
