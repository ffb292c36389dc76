/** The slope: the exponent of y = c · x^slope, by least squares over logarithms. 0 is constant, 1 is proportional. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Ignores points at zero; null if fewer than two points are left. */
export function slopeOf(points: readonly Point[]): number | null {
  const known = points.filter(({ x, y }) => x > 0 && y > 0).map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (of: (point: Point) => number): number => known.reduce((sum, point) => sum + of(point), 0) / known.length;
  const [middleX, middleY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const spread = mean(({ x }) => (x - middleX) ** 2);
  if (known.length < 2 || spread === 0) return null;
  return mean(({ x, y }) => (x - middleX) * (y - middleY)) / spread;
}
