/** The slope: the power of x with which y grows, by least squares over logarithms. 0 is flat, 1 is in proportion. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Of the points beyond zero; null: fewer than two of them. */
export function slopeOf(points: readonly Point[]): number | null {
  const known = points.filter(({ x, y }) => x > 0 && y > 0).map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (of: (point: Point) => number): number => known.reduce((sum, point) => sum + of(point), 0) / known.length;
  const [middleX, middleY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = mean(({ x }) => (x - middleX) ** 2);
  if (known.length < 2 || spread === 0) return null;
  return mean(({ x, y }) => (x - middleX) * (y - middleY)) / spread;
}
