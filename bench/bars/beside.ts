/** Measures how long another client waits beside some work, and how long a request takes. */

export const percentile = (ms: readonly number[], share: number): number =>
  ms.toSorted((a, b) => a - b)[Math.min(ms.length - 1, Math.floor(ms.length * share))]!;

export async function timed(request: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await request();
  return performance.now() - start;
}

/** Repeats `request` every few ms until the work is done; returns the time that each took. */
export async function beside(work: Promise<unknown>, request: () => Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const noteDone = (): void => void (isDone = true);
  work.then(noteDone, noteDone);
  const took: number[] = [];
  while (!isDone) {
    took.push(await timed(request));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await work;
  return took;
}
