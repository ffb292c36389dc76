/** The value axes of charts: whole numbers for counts, a logarithmic scale with round times for durations. */

/** The labels of a duration axis, in milliseconds: round times, each about ten times the previous one. */
const durationSteps = [
  1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000, 8_640_000_000,
];

const countTicksMax = 5;

/** Returns the labels of a count axis: at most six whole numbers, from 0 up to the maximum. */
export function countTicks(max: number): number[] {
  const step = countStep(Math.max(1, max));
  const count = Math.floor(Math.max(1, max) / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Returns the smallest of 1, 2, 5, 10, 20, 50, … that divides the axis into at most five steps. */
function countStep(max: number): number {
  for (let power = 1; ; power *= 10) {
    const step = [1, 2, 5].map((digit) => digit * power).find((each) => max / each <= countTicksMax);
    if (step !== undefined) return step;
  }
}

/** Returns the ends of a duration axis: the round times around the values. */
export function durationRange(min: number | null, max: number | null): [number, number] {
  const low = durationSteps.findLast((step) => step <= Math.max(1, min ?? 1)) ?? 1;
  const high = durationSteps.find((step) => step >= Math.max(10, max ?? 1_000)) ?? durationSteps.at(-1)!;
  return low < high ? [low, high] : [durationSteps[durationSteps.indexOf(high) - 1]!, high];
}

export const durationTicks = (min: number, max: number): number[] =>
  durationSteps.filter((step) => step >= min && step <= max);
