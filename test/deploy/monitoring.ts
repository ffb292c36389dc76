// The files for monitoring: the alert rules of Prometheus, and the dashboard of Grafana.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const rulesFile = 'deploy/prometheus/stint.rules.yaml';

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  /** Absent: the panel is the heading of a row. */
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly panels: readonly Panel[];
}

/** A query of Prometheus, with the name of the alert or the panel that asks it. */
export interface NamedQuery {
  readonly name: string;
  readonly expr: string;
}

export const dashboard = JSON.parse(readFileSync('deploy/grafana/stint.json', 'utf8')) as Dashboard;

export const alerts: readonly NamedQuery[] = (parse(readFileSync(rulesFile, 'utf8')) as RuleFile).groups
  .flatMap(({ rules }) => rules)
  .map(({ alert, expr }) => ({ name: alert, expr }));

export const panelQueries: readonly NamedQuery[] = dashboard.panels
  .flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr })));
