/** How many keys, names, types and requests the bars are measured with. */
export interface BarSizes {
  readonly keys: number;
  readonly fewNames: number;
  readonly manyNames: number;
  readonly types: number;
  readonly requests: number;
  readonly rounds: number;
}

export const barSizes: BarSizes = {
  keys: 6_000, fewNames: 100, manyNames: 20_000, types: 20_000, requests: 40, rounds: 3,
};

export const tinyBarSizes: BarSizes = { keys: 20, fewNames: 5, manyNames: 20, types: 20, requests: 3, rounds: 1 };
