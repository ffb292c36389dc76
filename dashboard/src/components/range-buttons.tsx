/** Buttons that choose the period of a page; the choice is in the URL. */
import type { JSX } from 'preact';
import type { SeriesRange } from '../../../src/http/contract.ts';
import { setQuery } from '../router.ts';

interface RangeButtonsProps {
  readonly label: string;
  readonly ranges: readonly SeriesRange[];
  readonly range: SeriesRange;
  /** The default period, which is left out of the URL. */
  readonly first: SeriesRange;
}

export function RangeButtons({ label, ranges, range, first }: RangeButtonsProps): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={label}>
      {ranges.map((one) => (
        <button
          key={one} type="button" aria-pressed={one === range}
          onClick={() => setQuery({ range: one === first ? null : one }, false)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}
