/** Alerts over HTTP: list, create, edit, delete and test them, and show what was sent. */
import type { AlertStatus, SentAlert } from '../../engine/alert-actions.ts';
import type { AlertOptions } from '../../engine/declare/alert.ts';
import { redactText, redactTexts, type Visibility } from '../access/redact.ts';
import type { AlertView, SentAlertView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { act, pageOf } from './runs.ts';

type AlertRouteNames = 'listAlerts' | 'createAlert' | 'getAlert' | 'editAlert' | 'deleteAlert' | 'resetAlert' | 'testAlert'
  | 'listAlertMessages';

export const alertRoutes: StoreRouteHandlers<AlertRouteNames> = {
  async listAlerts({ engine }) {
    return { items: (await engine.alerts()).map(alertView) };
  },

  async createAlert({ engine }, { body: { name, why, ...options } }, { principal }) {
    return alertView(await engine.defineAlert(name, options as AlertOptions, act(principal, why)));
  },

  async getAlert({ engine }, { params: { name } }) {
    return alertView(await engine.alert(name));
  },

  async editAlert({ engine }, { params: { name }, body: { why, ...changes } }, { principal }) {
    return alertView(await engine.editAlert(name, changes as Partial<AlertOptions>, act(principal, why)));
  },

  async deleteAlert({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.deleteAlert(name, act(principal, why));
    return {};
  },

  async resetAlert({ engine }, { params: { name }, query: { why } }, { principal }) {
    return alertView(await engine.editAlert(name, null, act(principal, why)));
  },

  async testAlert({ engine }, { params: { name }, body: { why } }, { principal }) {
    return { run: await engine.testAlert(name, act(principal, why)) };
  },

  async listAlertMessages({ engine }, { params: { name }, query }, { principal }) {
    await engine.alert(name);
    const { items, next } = await engine.sentAlerts(name, pageOf(query));
    return { items: items.map((sent) => sentView(sent, principal.visibility)), next };
  },
};

const alertView = (status: AlertStatus): AlertView => ({
  ...status,
  definitions: [...status.definitions],
  types: [...status.types],
  subjects: [...status.subjects],
  override: status.override && { ...status.override, fields: [...status.override.fields] },
});

const sentView = ({ error, message, ...sent }: SentAlert, visibility: Visibility): SentAlertView => ({
  ...sent,
  error: error && redactText(error, visibility),
  message: { ...message, changes: redactTexts([...message.changes], visibility) },
});
