/** The figure: a gauge or counter with its values, one for each set of labels. */
import type { MetricName } from './metric-names.ts';

export type Labels = Readonly<Record<string, string>>;

export interface LabelledValue {
  readonly labels: Labels;
  readonly value: number;
}

export interface Figure {
  readonly name: MetricName;
  readonly values: readonly LabelledValue[];
}

export const gauge = (name: MetricName, value: number): Figure => ({ name, values: [{ labels: {}, value }] });

/** A gauge with one value for each word of a label. */
export const gaugeBy = (name: MetricName, label: string, counts: Readonly<Record<string, number>>): Figure =>
  ({ name, values: Object.entries(counts).map(([word, value]) => ({ labels: { [label]: word }, value })) });
