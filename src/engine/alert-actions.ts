/** Alerts for operators: lists them with their state, creates, edits, deletes and tests them, and shows what was sent. */
import { messageDraft } from '../jobs/alert-watch.ts';
import { readAlert, readAlerts, unknownAlert, writeAlerts, type AlertChange, type AlertRecord } from '../jobs/alerts.ts';
import { alertTypeName, type AlertCondition, type AlertMessage, type AlertSpec, type AlertTarget } from '../model/alert.ts';
import type { Job } from '../model/job.ts';
import { parseJson } from '../model/json.ts';
import { Refusal } from '../refusal.ts';
import { standingOf, type PageRequest, type Standing } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { formatDuration } from '../time/duration.ts';
import type { AuditTrail } from './audit-trail.ts';
import { alertChanges, alertSpec, checkAlertName, type AlertOptions, type JobAlert } from './declare/alert.ts';
import type { ActOptions } from './run-handle.ts';
import type { StoreWorkers } from './store-workers.ts';
import type { Stores } from './stores.ts';

/** The values of an alert as they are shown: without the secret parts of its target. */
export interface AlertSettings {
  readonly definitions: readonly string[];
  readonly types: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly when: string;
  /** The kind and the host of the target, such as `slack hooks.slack.com`. */
  readonly to: string;
  readonly recovered: boolean;
  readonly every: string;
  readonly enabled: boolean;
}

export interface AlertStatus extends AlertSettings {
  readonly name: string;
  /** Whether code has declared it. */
  readonly isDeclared: boolean;
  /** Which settings an operator has changed, who and why; null: none, or no code declares the alert. */
  readonly override: { readonly fields: readonly string[]; readonly by: string | null; readonly why: string | null } | null;
  /** How many subjects are failing, and the first of them. */
  readonly failing: number;
  readonly subjects: readonly { readonly subject: string; readonly since: number; readonly failures: number }[];
  /** How often the state of a subject has changed, and how many messages were made of that. */
  readonly changes: number;
  readonly messages: number;
  readonly lastSentAt: number | null;
}

/** A message that was sent, or is to be sent. */
export interface SentAlert {
  /** The id of the run that sends it. */
  readonly run: number;
  readonly at: number;
  readonly standing: Standing;
  readonly attempts: number;
  /** Why the last attempt failed; null: it did not. */
  readonly error: string | null;
  readonly message: AlertMessage;
}

export interface SentAlerts {
  readonly items: readonly SentAlert[];
  readonly next: number | null;
}

const subjectsShown = 100;
const fieldNames: Readonly<Record<keyof AlertSpec, string>> = {
  definitions: 'definitions', types: 'types', tags: 'tags', when: 'when', to: 'to', recovered: 'recovered', everyMs: 'every', enabled: 'enabled',
};

export class AlertActions {
  readonly #stores: Stores;
  readonly #audit: AuditTrail;
  readonly #workers: StoreWorkers;

  constructor(stores: Stores, audit: AuditTrail, workers: StoreWorkers) {
    this.#stores = stores;
    this.#audit = audit;
    this.#workers = workers;
  }

  async list(): Promise<readonly AlertStatus[]> {
    return (await readAlerts(this.#store)).alerts.map(statusOf);
  }

  async show(name: string): Promise<AlertStatus> {
    return statusOf(await readAlert(this.#store, checkAlertName(name)));
  }

  /** Stores the alerts as code declares them. What operators have changed stays. */
  async declare(alerts: readonly JobAlert[]): Promise<void> {
    if (alerts.length === 0) return;
    const specs = new Map(alerts.map(({ name, spec }) => [name, spec]));
    await writeAlerts(this.#store, [...specs.keys()], (name, before) => ({
      override: before?.override ?? null, by: before?.by ?? null, why: before?.why ?? null, code: specs.get(name)!,
    }));
  }

  /** Creates an alert that no code declares. Refused if the name is in use. */
  async define(name: string, options: AlertOptions, act: ActOptions | undefined): Promise<AlertStatus> {
    const spec = alertSpec(checkAlertName(name), options);
    return this.#write('alert.define', name, act, (before) => {
      if (before === null) return { code: null, override: spec };
      throw new Refusal('taken.alert', `there is an alert ${name} already: edit it instead`, { name });
    });
  }

  /** Changes settings; those that are left out stay. Null removes what operators have changed of an alert of the code. */
  async edit(name: string, changes: Partial<AlertOptions> | null, act: ActOptions | undefined): Promise<AlertStatus> {
    const given = changes && alertChanges('the change of an alert', changes);
    return this.#write('alert.edit', checkAlertName(name), act, (before) => {
      if (before === null) throw unknownAlert(name);
      if (given !== null && Object.keys(given).length === 0) {
        throw new Refusal('malformed.option', 'nothing to change: give a setting of the alert', { name });
      }
      if (given !== null) return { code: before.code, override: { ...before.override, ...given } };
      if (before.code !== null) return { code: before.code, override: null };
      throw new Refusal('malformed.option', `no code declares the alert ${name}: edit or delete it instead`, { name });
    });
  }

  async delete(name: string, act: ActOptions | undefined): Promise<void> {
    await this.#write('alert.delete', checkAlertName(name), act, (before) => {
      if (before === null) throw unknownAlert(name);
      return null;
    });
  }

  /** Sends a test message to the target of an alert, whatever its state; returns the id of the run that sends it. */
  async test(name: string, act: ActOptions | undefined): Promise<number> {
    const { state } = await readAlert(this.#store, checkAlertName(name));
    const at = this.#store.now();
    const message = {
      alert: name, number: 0, at, isTest: true, from: 0, to: state.changes, failing: 0, recovered: 0, changes: [],
    };
    const asker = this.#audit.asker(act);
    const draft = { ...messageDraft(message), policy: { attemptsMax: 1 } };
    const { id } = await this.#stores.database.create(draft, asker.by);
    this.#workers.wake();
    await this.#record('alert.test', null, { name, run: id }, act);
    return id;
  }

  /** The messages of an alert, newest first. */
  async sent(name: string, page: PageRequest = {}): Promise<SentAlerts> {
    checkAlertName(name);
    const { jobs, next } = await this.#stores.database.find({ types: [alertTypeName], tags: { alert: name } }, page);
    return { items: jobs.map(sentOf), next };
  }

  get #store(): Store {
    return this.#stores.database.store;
  }

  async #write(
    action: string,
    name: string,
    act: ActOptions | undefined,
    changeOf: (before: AlertRecord | null) => Pick<AlertChange, 'code' | 'override'> | null,
  ): Promise<AlertStatus> {
    const { by, why = null } = this.#audit.asker(act);
    let before: AlertRecord | null = null;
    await writeAlerts(this.#store, [name], (_, known) => {
      before = known;
      const change = changeOf(known);
      return change && { ...change, ...(change.override === null ? { by: null, why: null } : { by, why }) };
    });
    this.#workers.watchAlerts();
    const after = (await readAlerts(this.#store)).alerts.find((alert) => alert.name === name) ?? null;
    await this.#record(action, before && auditOf(before), after && auditOf(after), act);
    return statusOf((after ?? before)!);
  }

  async #record(action: string, before: unknown, after: unknown, act: ActOptions | undefined): Promise<void> {
    if (act?.by === undefined) return;
    await this.#stores.database.audit({ action, job: null, def: null, before, after }, this.#audit.asker(act));
  }
}

function statusOf(alert: AlertRecord): AlertStatus {
  const { name, spec, code, override, by, why, state } = alert;
  const failing = Object.entries(state.subjects)
    .flatMap(([subject, { since, failures }]) => (since === null ? [] : [{ subject, since, failures }]))
    .sort((a, b) => a.since - b.since);
  return {
    name,
    ...settingsOf(spec),
    isDeclared: code !== null,
    override: code === null || override === null
      ? null : { fields: Object.keys(override).map((field) => fieldNames[field as keyof AlertSpec]), by, why },
    failing: failing.length,
    subjects: failing.slice(0, subjectsShown),
    changes: state.changes,
    messages: state.messages,
    lastSentAt: state.sentAt,
  };
}

const auditOf = ({ name, spec }: AlertRecord): unknown => ({ name, ...settingsOf(spec) });

const settingsOf = ({ everyMs, when, to, ...spec }: AlertSpec): AlertSettings =>
  ({ ...spec, when: whenText(when), to: toText(to), every: formatDuration(everyMs) });

function whenText(when: AlertCondition): string {
  if ('lateMs' in when) return `late by ${formatDuration(when.lateMs)}`;
  if ('longerThanMs' in when) return `longer than ${formatDuration(when.longerThanMs)}`;
  return when.failedInARow === 1 ? 'failed' : `failed ${when.failedInARow} times in a row`;
}

const toText = (to: AlertTarget): string =>
  ('webhook' in to ? `webhook ${new URL(to.webhook).host}` : `slack ${new URL(to.slack).host}`);

const sentOf = (job: Job): SentAlert => ({
  run: job.id,
  at: job.created,
  standing: standingOf(job),
  attempts: job.attempt,
  error: job.error?.message ?? null,
  message: parseJson(job.input) as unknown as AlertMessage,
});
