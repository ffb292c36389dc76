/** The alert as declared in code or by an operator: what it watches, when it sends, and where to. */
import { checkFields, checkFlag, checkList, checkPlainName, checkTags, checkText, checkWhole } from '../../jobs/checks/values.ts';
import type { AlertCondition, AlertSpec, AlertTarget } from '../../model/alert.ts';
import { parseGlob } from '../../model/glob.ts';
import type { Tags } from '../../model/job.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { checkSmtpUrl } from './smtp-url.ts';

export interface AlertOptions {
  /** The definitions whose runs are watched, by name or pattern such as `billing.*`. */
  readonly definitions?: readonly string[];
  /** The types whose runs are watched, by name or pattern. Without any and without `definitions`: all runs. */
  readonly types?: readonly string[];
  /** Only runs with all of these tags are watched. */
  readonly tags?: Tags;
  /**
   * `failed`: a run failed, with all its attempts. `failedInARow`: so many runs failed, and none succeeded in between. `late`:
   * a run has not started so long after it was due. `longerThan`: an attempt of a run takes longer than that.
   */
  readonly when: AlertWhen;
  /**
   * Where messages go: a URL that gets the message as JSON, one that understands Slack's `{"text": …}`, or a mail server:
   * `smtps://user:password@mail.example.com?from=stint@example.com&to=ops@example.com`.
   */
  readonly to: AlertTo;
  /** Whether a message is sent when all is well again. Default: true. */
  readonly recovered?: boolean;
  /** The shortest time between two messages; what changes meanwhile is in the next one. Default: 1m; at least 1s. */
  readonly every?: Duration;
  /** Default: true. */
  readonly enabled?: boolean;
}

export type AlertWhen =
  | 'failed'
  | { readonly failedInARow: number }
  | { readonly late: Duration }
  | { readonly longerThan: Duration };

export type AlertTo = { readonly webhook: string } | { readonly slack: string } | { readonly smtp: string };

/** An alert with its name, for the option `alerts` of an engine. */
export interface JobAlert {
  readonly name: string;
  readonly spec: AlertSpec;
}

const everyDefault: Duration = '1m';
const everyMinMs = 1_000;
const patternsMax = 100;
const urlMax = 2_048;
const inARowMax = 1_000;
const fields = ['definitions', 'types', 'tags', 'when', 'to', 'recovered', 'every', 'enabled'] as const;

/** Declares an alert. List it in `alerts` of the engine. */
export function jobAlert(name: string, options: AlertOptions): JobAlert {
  return Object.freeze({ name: checkAlertName(name), spec: alertSpec(name, options) });
}

export const checkAlertName = (name: unknown): string => checkPlainName('an alert', name);

/** Checks the options of a new alert, and fills in the defaults. */
export function alertSpec(name: string, options: AlertOptions): AlertSpec {
  const { when, to, ...others } = alertChanges(`alert ${name}`, options);
  if (when === undefined) throw malformed(`alert ${name} needs when: failed, failedInARow, late or longerThan`);
  if (to === undefined) throw malformed(`alert ${name} needs a target: a webhook, a slack or an smtp URL`);
  return {
    definitions: [], types: [], tags: {}, recovered: true, everyMs: durationMs(everyDefault), enabled: true, ...others, when, to,
  };
}

/** Checks the options that are given. */
export function alertChanges(what: string, options: Partial<AlertOptions>): Partial<AlertSpec> {
  const { definitions, types, tags, when, to, recovered, every, enabled } = checkFields(what, options, fields);
  return {
    ...(definitions === undefined ? {} : { definitions: checkPatterns('definitions', definitions) }),
    ...(types === undefined ? {} : { types: checkPatterns('types', types) }),
    ...(tags === undefined ? {} : { tags: checkTags(tags) }),
    ...(when === undefined ? {} : { when: conditionOf(when) }),
    ...(to === undefined ? {} : { to: targetOf(to) }),
    ...(recovered === undefined ? {} : { recovered: checkFlag('recovered', recovered) }),
    ...(every === undefined ? {} : { everyMs: checkEvery(durationMs(every)) }),
    ...(enabled === undefined ? {} : { enabled: checkFlag('enabled', enabled) }),
  };
}

const checkPatterns = (what: string, patterns: readonly string[]): readonly string[] =>
  checkList(what, patterns, patternsMax, (pattern) => parseGlob(checkText(`a pattern of ${what}`, pattern, 255)).text);

function checkEvery(ms: number): number {
  if (ms >= everyMinMs) return ms;
  throw malformed('every must be at least 1s: messages would otherwise be as many as failures');
}

function conditionOf(when: AlertWhen): AlertCondition {
  if (when === 'failed') return { failedInARow: 1 };
  const { failedInARow, late, longerThan } = checkFields('when', typeof when === 'object' ? when : {}, ['failedInARow', 'late', 'longerThan']) as
    { readonly failedInARow?: number; readonly late?: Duration; readonly longerThan?: Duration };
  const given: readonly AlertCondition[] = [
    ...(failedInARow === undefined ? [] : [{ failedInARow: checkWhole('failedInARow', failedInARow, 1, inARowMax) }]),
    ...(late === undefined ? [] : [{ lateMs: durationMs(late) }]),
    ...(longerThan === undefined ? [] : [{ longerThanMs: durationMs(longerThan) }]),
  ];
  if (given.length === 1) return given[0]!;
  throw malformed('when must be failed, or one of failedInARow, late and longerThan');
}

function targetOf(to: AlertTo): AlertTarget {
  const { webhook, slack, smtp } = checkFields('to', to, ['webhook', 'slack', 'smtp']) as
    { readonly webhook?: string; readonly slack?: string; readonly smtp?: string };
  const given: readonly AlertTarget[] = [
    ...(webhook === undefined ? [] : [{ webhook: checkTargetUrl(webhook) }]),
    ...(slack === undefined ? [] : [{ slack: checkTargetUrl(slack) }]),
    ...(smtp === undefined ? [] : [{ smtp: checkSmtpUrl(smtp) }]),
  ];
  if (given.length === 1) return given[0]!;
  throw malformed('to must have one target: a webhook, a slack or an smtp URL');
}

/** The refusal does not contain the URL, because it may contain a secret. */
function checkTargetUrl(text: string): string {
  checkText('the URL of an alert', text, urlMax);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw malformed('the URL of an alert must begin with http:// or https://');
  }
  if (url.username === '' && url.password === '') return text;
  throw malformed('the URL of an alert must not contain a user and password');
}

const malformed = (message: string): Refusal => new Refusal('malformed.option', message);
