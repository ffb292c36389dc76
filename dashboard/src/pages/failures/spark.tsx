/** A sparkline: one bar for each part of the period. Its label has the total and the highest bar. */
import type { JSX } from 'preact';
import { number } from '../../format.ts';

const [barWidth, height] = [4, 26];

export function Spark({ values, label }: { readonly values: readonly number[]; readonly label: string }): JSX.Element {
  const highest = Math.max(1, ...values);
  const sum = values.reduce((all, value) => all + value, 0);
  return (
    <svg
      class="spark" role="img"
      aria-label={`${label}: ${number(sum)} in this period, at most ${number(highest)} in one bar`}
      viewBox={`0 0 ${values.length * barWidth} ${height}`} preserveAspectRatio="none"
    >
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(3, (value / highest) * height);
        return (
          <rect
            key={index} x={index * barWidth} y={height - tall} width={barWidth - 1} height={tall}
            data-empty={value === 0}
          />
        );
      })}
    </svg>
  );
}
