/** A spark line: a few bars that say when, with the sum for those who do not see them. */
import type { JSX } from 'preact';
import { number } from '../../words.ts';

const [barWidth, height] = [4, 26];

export function Spark({ values, label }: { readonly values: readonly number[]; readonly label: string }): JSX.Element {
  const most = Math.max(1, ...values);
  const sum = values.reduce((all, value) => all + value, 0);
  return (
    <svg
      class="spark" role="img" aria-label={`${label}: ${number(sum)} over this time, at most ${number(most)} at once`}
      viewBox={`0 0 ${values.length * barWidth} ${height}`} preserveAspectRatio="none"
    >
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(3, (value / most) * height);
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
