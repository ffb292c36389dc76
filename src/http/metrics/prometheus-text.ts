/** The text format of Prometheus: a line for one value, and the lines of a histogram. */
import type { MetricName } from './metric-names.ts';

/** Formats one value. Label values are escaped, because they can contain names given by users. */
export function line(name: string, labels: Readonly<Record<string, string>>, value: number | string): string {
  const labelText = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`).join(',');
  return `${name}${labelText === '' ? '' : `{${labelText}}`} ${value}`;
}

const escape = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

export class Histogram {
  readonly #counts = bounds.map(() => 0);
  #count = 0;
  #sum = 0;

  add(value: number): void {
    const bounded = Math.max(0, value);
    this.#count += 1;
    this.#sum += bounded;
    bounds.forEach((bound, index) => {
      if (bounded <= bound) this.#counts[index]! += 1;
    });
  }

  lines(name: MetricName, labels: Readonly<Record<string, string>>): string[] {
    return [
      ...bounds.map((bound, index) => line(`${name}_bucket`, { ...labels, le: String(bound) }, this.#counts[index]!)),
      line(`${name}_bucket`, { ...labels, le: '+Inf' }, this.#count),
      line(`${name}_sum`, labels, Math.round(this.#sum * 1000) / 1000),
      line(`${name}_count`, labels, this.#count),
    ];
  }
}
